"""Rules about passive points."""

from __future__ import annotations

from app.conflicts.case import Case, advice, conflict
from app.model.conflicts import BuildConflict, Details, Evidence
from app.model.demands import QUEST_PASSIVE_POINTS, UNLISTED_PASSIVE_POINTS, earned_points
from app.model.names import ConflictType, Demand, Severity, SubProblemName

_TREE = ConflictType.TREE_OVERFLOW
_SCALING = SubProblemName.DAMAGE_SCALING
_ASCENDANCY = SubProblemName.ASCENDANCY


def points_within_level(case: Case) -> list[BuildConflict]:
    """Passives cost at most the points there are by the level; one of each weapon set counts once for both.

    Somebody's own character may have done all quests, and has one more at any rate.
    """
    points = case.inspection.points
    used, available = points.get("used", 0), earned_points(case.demands.level, points)
    if case.imported:
        available = max(available, points.get("available", 0)) + UNLISTED_PASSIVE_POINTS
    if used <= available:
        return []
    over = used - available
    ways = [
        advice("trim_tree", _SCALING, Demand.FEWER_POINTS, f"free {over} passives", Details(over=over, local=True)),
        advice("regrow_tree", _SCALING, Demand.FEWER_POINTS, "spend all passive points anew", Details(over=over)),
    ]
    message = f"{used} passive points are used, {available} exist at level {case.level}."
    points_used = Evidence(required=used, available=available, unit="points")
    return [conflict(_TREE, Severity.BLOCKING, "passives", message, ways, points_used)]


def tree_of_today(case: Case) -> list[BuildConflict]:
    """The passives are those of the newest tree; a file that was made on an older one keeps it, figures and all."""
    tree = case.stats.engine.tree_version
    if not case.newest_tree or tree == case.newest_tree:
        return []
    message = f"The passive tree is {tree}, an older one than {case.newest_tree}: today's passives may be others."
    seen = Evidence(required=case.newest_tree, available=tree)
    anew = advice("regrow_tree", _SCALING, Demand.FEWER_POINTS, "spend all passive points anew on today's tree")
    return [conflict(_TREE, Severity.WARNING, "older", message, [anew], seen)]


def weapon_set_points(case: Case) -> list[BuildConflict]:
    """At most as many passives belong to one weapon set as quests gave points: somebody's own may have had all 24."""
    most = QUEST_PASSIVE_POINTS if case.imported else case.demands.floors.weapon_set_points
    used = max(case.inspection.points.get("used_set1", 0), case.inspection.points.get("used_set2", 0))
    if used <= most:
        return []
    fewer = advice(
        "trim_tree",
        _SCALING,
        Demand.FEWER_POINTS,
        f"free {used - most} weapon set passives",
        Details(over=used - most),
    )
    message = f"{used} passives belong to one weapon set, {most} are possible."
    points_used = Evidence(required=used, available=most, unit="points")
    return [conflict(_TREE, Severity.BLOCKING, "weapon_set", message, [fewer], points_used)]


def no_point_unspent(case: Case) -> list[BuildConflict]:
    """Unspent passive points are a warning."""
    points = case.inspection.points
    used, available = points.get("used", 0), earned_points(case.demands.level, points)
    if used >= available:
        return []
    left = available - used
    spend = advice(
        "spend_points",
        _SCALING,
        Demand.SPEND_POINTS,
        f"allocate {left} more passives",
        Details(unspent=left, local=True),
    )
    message = f"{left} of {available} passive points are unspent."
    points_used = Evidence(required=available, available=used, unit="points")
    return [conflict(_TREE, Severity.WARNING, "unspent", message, [spend], points_used)]


def ascendancy_points(case: Case) -> list[BuildConflict]:
    """All ascendancy points of the level are spent and no more: 8 from level 75 (fewer below are a warning).

    Somebody's own character may have gone to a trial earlier.
    """
    used = case.inspection.points.get("ascendancy_used", 0)
    wanted = case.demands.floors.ascendancy_points
    most = case.inspection.points.get("ascendancy_available", 8)
    if case.imported and wanted < used <= most:
        return []
    if used == wanted or (used < wanted and case.blueprint.ascendancy is None and wanted < 8):
        return []
    if used > wanted:
        demand = advice(
            "trim_ascendancy",
            _ASCENDANCY,
            Demand.FEWER_POINTS,
            f"free {used - wanted} points",
            Details(over=used - wanted),
        )
        severity = Severity.BLOCKING if used > max(wanted, most) else Severity.WARNING
    else:
        demand = advice(
            "spend_ascendancy",
            _ASCENDANCY,
            Demand.SPEND_POINTS,
            f"spend {wanted - used} points",
            Details(unspent=wanted - used),
        )
        severity = Severity.BLOCKING if wanted == 8 else Severity.WARNING
    message = f"{used} of {wanted} ascendancy points are spent."
    points_used = Evidence(required=wanted, available=used, unit="points")
    return [conflict(_TREE, severity, "ascendancy", message, [demand], points_used)]


def passives_connected(case: Case) -> list[BuildConflict]:
    """Every requested passive is really allocated."""
    dropped = sorted(case.inspection.dropped_nodes)
    if not dropped:
        return []
    ways = [
        advice(
            "reconnect",
            _SCALING,
            Demand.FEWER_POINTS,
            "connect them again, and leave out what is too far away",
            Details(nodes=dropped, local=True),
        ),
        advice("regrow_tree", _SCALING, Demand.FEWER_POINTS, "spend all passive points anew", Details(nodes=dropped)),
    ]
    message = f"{len(dropped)} passives are not connected to the tree and count for nothing."
    return [conflict(_TREE, Severity.BLOCKING, "unconnected", message, ways, Evidence(nodes=dropped))]
