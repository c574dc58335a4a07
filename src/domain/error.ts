/** Every failure a caller can act on, by name. `http/errors.ts` gives each its status and title, `cli/` its exit code. */
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
  "link_not_found",
  "pixel_not_found",
  "template_not_found",
  "work_not_found",
  "user_not_found",
  "invitation_not_found",
  "api_key_not_found",
  "domain_not_found",
  "backup_not_found",
  "job_not_found",
  "setting_not_found",
  "method_not_allowed",
  "not_acceptable",
  "goal_exists",
  "funnel_exists",
  "slug_taken",
  "slug_recently_used",
  "domain_in_use",
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
  "invalid_destination",
  "destination_not_allowed",
  "redirect_loop",
  "utm_required",
  "low_contrast",
  "backup_corrupt",
  "backup_too_new",
  "backup_foreign",
  "wrong_passphrase",
  "not_enough_space",
  "domain_not_verified",
  "identity_insufficient",
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
export type ErrorCode = (typeof ERROR_CODES)[number]

/** One fault in what was sent. The pointer leads into the body; of a query parameter it is `/<name>`. */
export interface Fault {
  pointer: string
  code: string
  detail: string
  allowed?: readonly (string | number)[] | { min: number; max: number }
}

/** A failure the caller can act on. Anything else that is thrown is a bug and answers `internal_error`. */
export class AppError extends Error {
  constructor(
    readonly code: ErrorCode,
    detail: string,
    /** `retry_after` (seconds) and `etag` become headers, the others members of the answer. */
    readonly members: { errors?: readonly Fault[]; retry_after?: number; etag?: string; [name: string]: unknown } = {},
  ) {
    super(detail)
    this.name = "AppError"
  }
}

export const siteNotFound = () => new AppError("site_not_found", "No site with this id is visible to you")

/** Whoever looks for faults stops behind so many: a hostile body is made of thousands, and an answer shows 20. */
export const COUNTED_FAULTS = 200

/** Throws `validation_failed` with all faults at once, at most 20; returns quietly when there are none. */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length === 0) return
  const number = faults.length > COUNTED_FAULTS ? `More than ${COUNTED_FAULTS}` : faults.length
  const count = faults.length === 1 ? "1 field is" : `${number} fields are`
  throw new AppError("validation_failed", `${count} not valid.`, { errors: faults.slice(0, 20) })
}
