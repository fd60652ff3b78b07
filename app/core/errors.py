"""Every error Buildwright raises on purpose.

AppError(code, status, retryable)
├─ InputError 422        BadRequest 400 · TooLarge 413 · BadImport 422 · UnknownFact 422
├─ NotPermitted 403         the token does not permit it
├─ NotFound 404
├─ Conflict 409          NotReady · InvalidTransition · IdempotencyMismatch · TreeUnavailable
├─ RateLimited 429       QuotaUsed; `details["retry_after_s"]` says when a repeat can work
├─ NotAvailable 501      a call of the contract that this version does not have yet
├─ EngineError 502       EngineCrashed · EngineHung · EngineGarbage (retry in a new child)
│                        EngineRefused 422 (the request is wrong, never retried) · EngineMissing 503
├─ InstallFailed 422     what was given cannot be installed as Path of Building
├─ ExtraMissing 503      a setting asks for an optional part that is not installed
├─ ReasonerError 502
├─ ReasonerMissing 422   the reasoner asked for is not set up
├─ LlmError 502          LlmUnavailable · LlmTimeout · LlmRateLimited (retry) · LlmBusy · LlmRejected · LlmBadOutput
│                        LlmRefused · LlmGivenUp (none of these ends a build: the rules decide that step)
├─ ToolRefused 422       a language model asked for a tool in a way that cannot be served
├─ BudgetExceeded 402
├─ StorageError 503      StorageBusy · StorageFull (retry) · StorageLocked (another process owns the file)
└─ LeaseLost             not a failure of the build: stop quietly, write nothing
"""

from __future__ import annotations

from typing import ClassVar


class AppError(Exception):
    """Base of all errors; `code` is stable, `status` is the HTTP status, `retryable` says whether a repeat can help."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class InputError(AppError):
    """What the user sent cannot be used."""

    code = "invalid_input"
    status = 422


class BadRequest(InputError):
    """The request is malformed."""

    code = "bad_request"
    status = 400


class TooLarge(InputError):
    """The request exceeds a size limit."""

    code = "too_large"
    status = 413


class BadImport(InputError):
    """An imported XML or share code is not a Path of Building build."""

    code = "bad_import"


class UnknownFact(InputError):
    """A name that the engine does not know."""

    code = "unknown_fact"


class NotPermitted(AppError):
    """The access token does not permit this."""

    code = "forbidden"
    status = 403


class RateLimited(AppError):
    """The access token asks more often than it may; `details["retry_after_s"]` says how long to wait."""

    code = "rate_limited"
    status = 429
    retryable = True


class QuotaUsed(RateLimited):
    """The access token has started as many builds today as it may."""

    code = "quota_used"


class NotFound(AppError):
    """No such build."""

    code = "not_found"
    status = 404

    @classmethod
    def of(cls, build_id: str) -> NotFound:
        """Return that there is no such build, in the words that do not tell a missing one from somebody else's."""
        return cls("there is no such build", build_id=build_id)


class Conflict(AppError):
    """The request does not fit the state of the build."""

    code = "conflict"
    status = 409


class NotReady(Conflict):
    """The build has no valid state to show yet."""

    code = "not_ready"


class InvalidTransition(Conflict):
    """The transition table has no such move."""

    code = "invalid_transition"


class IdempotencyMismatch(Conflict):
    """The idempotency key was used before with another body."""

    code = "idempotency_mismatch"


class TreeUnavailable(Conflict):
    """The passive tree cannot be drawn, because only Path of Building knows where its passives stand."""

    code = "tree_unavailable"


class NotAvailable(AppError):
    """A call of the contract that this version does not have yet."""

    code = "not_available"
    status = 501


class EngineError(AppError):
    """The calculation engine failed."""

    code = "engine_error"
    status = 502


class EngineCrashed(EngineError):
    """The engine process ended; a new one can take over."""

    code = "engine_crashed"
    retryable = True


class EngineHung(EngineError):
    """The engine missed its deadline and was killed."""

    code = "engine_hung"
    retryable = True


class EngineGarbage(EngineError):
    """The engine answered something that is not the protocol."""

    code = "engine_garbage"
    retryable = True


class EngineRefused(EngineError):
    """The engine understood the request and says it is wrong."""

    code = "engine_refused"
    status = 422


class EngineMissing(EngineError):
    """The engine asked for is not installed."""

    code = "engine_missing"
    status = 503


class InstallFailed(AppError):
    """What was given cannot be installed as Path of Building; an install that was there is untouched."""

    code = "install_failed"
    status = 422


class ExtraMissing(AppError):
    """A setting asks for an optional part of the product that is not installed; `details["extra"]` names it."""

    code = "extra_missing"
    status = 503


class ReasonerError(AppError):
    """The reasoner could not decide."""

    code = "reasoner_error"
    status = 502


class ReasonerMissing(InputError):
    """The reasoner asked for is not set up."""

    code = "reasoner_missing"


class LlmError(AppError):
    """The language model could not be used."""

    code = "llm_error"
    status = 502


class LlmUnavailable(LlmError):
    """The provider cannot be reached or fails on its side."""

    code = "llm_unavailable"
    retryable = True


class LlmTimeout(LlmError):
    """The whole answer did not arrive before the deadline."""

    code = "llm_timeout"
    retryable = True


class LlmRateLimited(LlmError):
    """The provider asks to slow down; `details["retry_after_s"]` says how long, None when it did not say."""

    code = "llm_rate_limited"
    retryable = True


class LlmBusy(LlmRateLimited):
    """The provider asks to wait longer than a build can."""

    retryable = False


class LlmRejected(LlmError):
    """The provider refuses the request: wrong key, unknown model, redirect elsewhere."""

    code = "llm_rejected"


class LlmBadOutput(LlmError):
    """The answer cannot be used: not the provider's format, too large, or not what the prompt asked for."""

    code = "llm_bad_output"


class LlmRefused(LlmError):
    """The language model declines to answer."""

    code = "llm_refused"


class LlmGivenUp(LlmError):
    """The provider failed again and again during this build, so it is not asked any more."""

    code = "llm_given_up"


class ToolRefused(AppError):
    """A language model asked for a tool that it does not have, or with arguments that do not fit; it is told so."""

    code = "tool_refused"
    status = 422


class BudgetExceeded(AppError):
    """A limit of tokens, USD, seconds or rounds is reached."""

    code = "budget_exceeded"
    status = 402


class StorageError(AppError):
    """The store failed."""

    code = "storage_error"
    status = 503


class StorageBusy(StorageError):
    """The store is locked for the moment."""

    code = "storage_busy"
    retryable = True


class StorageFull(StorageError):
    """There is no room left for the store; what it has is whole, and it goes on when there is."""

    code = "storage_full"
    retryable = True


class StorageLocked(StorageError):
    """Another process owns the database file."""

    code = "storage_locked"


class LeaseLost(AppError):
    """Another runner claimed the build: stop quietly and write nothing."""

    code = "lease_lost"
