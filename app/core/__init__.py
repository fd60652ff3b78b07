"""What everything stands on: settings, errors, time, ids, logs. Imports nothing of ours."""
