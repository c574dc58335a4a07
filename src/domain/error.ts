/** The codes of all failures that a caller can act on. `http/errors.ts` maps each to a status and a title, `cli/` to an exit code. */
export const ERROR_CODES = [
  "invalid_json",
  "invalid_query",
  "invalid_cursor",
  "invalid_header",
  "invalid_event",
  "missing_api_key",
  "invalid_api_key",
  "session_required",
  "share_locked",
  "invalid_credentials",
  "invalid_code",
  "ticket_invalid",
  "insufficient_scope",
  "unrestricted_key_required",
  "origin_not_allowed",
  "forbidden",
  "reauth_required",
  "mfa_enrollment_required",
  "setup_token_invalid",
  "sso_required",
  "own_session_required",
  "insecure_connection",
  "impersonation_read_only",
  "invitation_for_other_email",
  "not_found",
  "feature_disabled",
  "session_not_found",
  "passkey_not_found",
  "provider_not_found",
  "organization_not_found",
  "site_not_found",
  "goal_not_found",
  "funnel_not_found",
  "annotation_not_found",
  "segment_not_found",
  "share_not_found",
  "shield_not_found",
  "work_not_found",
  "visit_not_found",
  "user_not_found",
  "invitation_not_found",
  "api_key_not_found",
  "domain_not_found",
  "host_proof_not_found",
  "host_dispute_not_found",
  "backup_not_found",
  "job_not_found",
  "setting_not_found",
  "method_not_allowed",
  "not_acceptable",
  "goal_exists",
  "funnel_exists",
  "slug_taken",
  "slug_recently_used",
  "segment_in_use",
  "idempotency_in_progress",
  "compat_id_taken",
  "already_set_up",
  "last_owner",
  "last_instance_admin",
  "sole_owner",
  "email_taken",
  "set_elsewhere",
  "backup_running",
  "restore_running",
  "mfa_required_by_policy",
  "mail_unavailable",
  "already_member",
  "domain_taken",
  "provider_required",
  "version_conflict",
  "invalid_state",
  "precondition_failed",
  "body_too_large",
  "unsupported_media_type",
  "misdirected_request",
  "validation_failed",
  "token_invalid",
  "idempotency_key_reused",
  "limit_reached",
  "sharing_disabled",
  "password_required",
  "embed_needs_no_password",
  "not_allowed",
  "invalid_slug",
  "slug_reserved",
  "backup_corrupt",
  "backup_too_new",
  "backup_foreign",
  "wrong_passphrase",
  "not_enough_space",
  "domain_not_verified",
  "identity_insufficient",
  "broken_reference",
  "blocked_address",
  "outbound_disabled",
  "outbound_failed",
  "rate_limited",
  "internal_error",
  "setup_required",
  "maintenance",
  "unavailable",
  "storage_full",
  "storage_damaged",
  "query_timeout",
] as const
export type CoreErrorCode = (typeof ERROR_CODES)[number]

declare const ofPlugin: unique symbol
/** Error code that a plugin declares. The plugin creates its errors with `errorsOf` of `src/plugin`. */
export type PluginErrorCode = string & { readonly [ofPlugin]: true }
export type ErrorCode = CoreErrorCode | PluginErrorCode

/** A fault in a request. `pointer` is a JSON pointer into the body, or `/<name>` for a query parameter. */
export interface Fault {
  pointer: string
  code: string
  detail: string
  allowed?: readonly (string | number)[] | { min: number; max: number }
}

/** A failure that the caller can act on. Any other error that is thrown is a bug and is answered with `internal_error`. */
export class AppError extends Error {
  constructor(
    readonly code: ErrorCode,
    detail: string,
    /** Additional members of the error response. `retry_after` (seconds) and `etag` become headers instead. */
    readonly members: { errors?: readonly Fault[]; retry_after?: number; etag?: string; [name: string]: unknown } = {},
  ) {
    super(detail)
    this.name = "AppError"
  }
}

export const siteNotFound = () => new AppError("site_not_found", "This site doesn't exist or you don't have access to it.")

/** The number of faults after which validation stops. A hostile body may contain thousands, and a response shows 20. */
export const MAX_COUNTED_FAULTS = 200

/** Throws `validation_failed` with the first 20 faults. Does nothing when there are none. */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length === 0) return
  const number = faults.length > MAX_COUNTED_FAULTS ? `More than ${MAX_COUNTED_FAULTS}` : faults.length
  const count = faults.length === 1 ? "1 field is" : `${number} fields are`
  throw new AppError("validation_failed", `${count} not valid.`, { errors: faults.slice(0, 20) })
}
