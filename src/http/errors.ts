import { Elysia, type ValidationError } from "elysia"
import { AppError, type CoreErrorCode, type ErrorCode, type Fault } from "../domain/error.ts"
import type { Log } from "../domain/log.ts"
import { firstPerPointer, toFaults } from "../domain/shape.ts"
import { pluginError } from "../plugin/errors.ts"
import { storeRefusal } from "../services/runtime/store-states.ts"

/** HTTP status and title of an error code. */
interface ErrorStatus {
  status: number
  title: string
  /** Default of the header Retry-After, in whole seconds. */
  retryAfter?: number
}

const ANSWERS: Record<CoreErrorCode, ErrorStatus> = {
  invalid_json: { status: 400, title: "The body is not valid JSON" },
  invalid_query: { status: 400, title: "The query string is not valid" },
  invalid_cursor: { status: 400, title: "The cursor is not valid" },
  invalid_header: { status: 400, title: "A header is not valid" },
  invalid_event: { status: 400, title: "The event is not valid" },
  missing_api_key: { status: 401, title: "An API key is required" },
  invalid_api_key: { status: 401, title: "The API key is not valid" },
  session_required: { status: 401, title: "A signed-in session is required" },
  share_locked: { status: 401, title: "The shared view requires a password" },
  invalid_credentials: { status: 401, title: "The credentials are incorrect" },
  invalid_code: { status: 401, title: "The code is incorrect" },
  ticket_invalid: { status: 401, title: "The sign-in must be restarted" },
  insufficient_scope: { status: 403, title: "The API key lacks a scope" },
  unrestricted_key_required: { status: 403, title: "An unrestricted organization key is required" },
  origin_not_allowed: { status: 403, title: "The origin is not allowed" },
  forbidden: { status: 403, title: "The role does not allow this" },
  reauth_required: { status: 403, title: "Your identity must be confirmed again" },
  mfa_enrollment_required: { status: 403, title: "A second factor is required" },
  setup_token_invalid: { status: 403, title: "The setup token is not valid" },
  sso_required: { status: 403, title: "Single sign-on is required" },
  own_session_required: { status: 403, title: "This session cannot change the account" },
  insecure_connection: { status: 403, title: "The connection is not secure" },
  impersonation_read_only: { status: 403, title: "Impersonation is read-only" },
  invitation_for_other_email: { status: 403, title: "The invitation is for another email address" },
  not_found: { status: 404, title: "The address was not found" },
  feature_disabled: { status: 404, title: "The feature is disabled" },
  session_not_found: { status: 404, title: "The session was not found" },
  passkey_not_found: { status: 404, title: "The passkey was not found" },
  provider_not_found: { status: 404, title: "The identity provider was not found" },
  organization_not_found: { status: 404, title: "The organization was not found" },
  site_not_found: { status: 404, title: "The site was not found" },
  goal_not_found: { status: 404, title: "The goal was not found" },
  funnel_not_found: { status: 404, title: "The funnel was not found" },
  user_not_found: { status: 404, title: "The user was not found" },
  invitation_not_found: { status: 404, title: "The invitation was not found" },
  api_key_not_found: { status: 404, title: "The API key was not found" },
  domain_not_found: { status: 404, title: "The domain was not found" },
  host_proof_not_found: { status: 404, title: "The host proof was not found" },
  host_dispute_not_found: { status: 404, title: "The host dispute was not found" },
  backup_not_found: { status: 404, title: "The backup was not found" },
  job_not_found: { status: 404, title: "The job was not found" },
  setting_not_found: { status: 404, title: "The setting was not found" },
  annotation_not_found: { status: 404, title: "The annotation was not found" },
  segment_not_found: { status: 404, title: "The segment was not found" },
  share_not_found: { status: 404, title: "The shared view was not found" },
  shield_not_found: { status: 404, title: "The shield was not found" },
  visit_not_found: { status: 404, title: "The visit was not found" },
  work_not_found: { status: 404, title: "The job was not found" },
  method_not_allowed: { status: 405, title: "The method is not allowed here" },
  not_acceptable: { status: 406, title: "The requested format is not offered" },
  goal_exists: { status: 409, title: "The goal already exists" },
  funnel_exists: { status: 409, title: "A funnel with this name already exists" },
  slug_taken: { status: 409, title: "The slug is taken" },
  slug_recently_used: { status: 409, title: "The slug was in use recently" },
  segment_in_use: { status: 409, title: "The segment is in use" },
  idempotency_in_progress: { status: 409, title: "The first request with this key is still running", retryAfter: 1 },
  compat_id_taken: { status: 409, title: "Another site uses this compatibility id" },
  already_set_up: { status: 409, title: "The instance is already set up" },
  last_owner: { status: 409, title: "The organization needs an owner" },
  last_instance_admin: { status: 409, title: "The instance needs an admin" },
  sole_owner: { status: 409, title: "The user is the only owner of an organization" },
  email_taken: { status: 409, title: "The email address belongs to another user" },
  set_elsewhere: { status: 409, title: "The setting is defined elsewhere" },
  backup_running: { status: 409, title: "A backup is being created" },
  restore_running: { status: 409, title: "A backup is being restored" },
  mfa_required_by_policy: { status: 409, title: "The last second factor cannot be removed" },
  mail_unavailable: { status: 409, title: "Email is not configured" },
  already_member: { status: 409, title: "The user is already a member" },
  domain_taken: { status: 409, title: "Another organization has verified this domain" },
  provider_required: { status: 409, title: "Members could no longer sign in" },
  domain_not_verified: { status: 409, title: "The domain is not verified yet" },
  version_conflict: { status: 409, title: "The resource was changed by someone else" },
  invalid_state: { status: 409, title: "The current state does not allow this" },
  precondition_failed: { status: 412, title: "The resource has changed" },
  body_too_large: { status: 413, title: "The body is too large" },
  unsupported_media_type: { status: 415, title: "The content type is not supported" },
  misdirected_request: { status: 421, title: "The host is not served here" },
  validation_failed: { status: 422, title: "The content is not valid" },
  token_invalid: { status: 422, title: "The token is not valid" },
  idempotency_key_reused: { status: 422, title: "The idempotency key was used for another request" },
  limit_reached: { status: 422, title: "A limit is reached" },
  sharing_disabled: { status: 422, title: "Sharing is disabled" },
  password_required: { status: 422, title: "A password is required" },
  embed_needs_no_password: { status: 422, title: "An embedded view cannot have a password" },
  not_allowed: { status: 422, title: "The view does not allow this" },
  invalid_slug: { status: 422, title: "The slug is not valid" },
  slug_reserved: { status: 422, title: "The slug is reserved" },
  backup_corrupt: { status: 422, title: "The backup is damaged" },
  backup_too_new: { status: 422, title: "The backup is from a newer version" },
  backup_foreign: { status: 422, title: "The backup is from another program" },
  wrong_passphrase: { status: 422, title: "The passphrase is incorrect" },
  not_enough_space: { status: 422, title: "There is not enough space" },
  broken_reference: { status: 422, title: "A definition refers to something that was deleted" },
  identity_insufficient: { status: 422, title: "The identity mode of the site is too short for this report" },
  blocked_address: { status: 422, title: "The address is blocked" },
  outbound_disabled: { status: 422, title: "Outgoing requests are disabled" },
  outbound_failed: { status: 422, title: "The outgoing request failed" },
  rate_limited: { status: 429, title: "Too many requests", retryAfter: 1 },
  internal_error: { status: 500, title: "Something went wrong" },
  setup_required: { status: 503, title: "The instance is not set up yet", retryAfter: 60 },
  maintenance: { status: 503, title: "The instance is being maintained", retryAfter: 60 },
  unavailable: { status: 503, title: "The service is not available", retryAfter: 1 },
  storage_full: { status: 503, title: "The storage is full", retryAfter: 10 },
  storage_damaged: { status: 503, title: "The storage is damaged", retryAfter: 60 },
  query_timeout: { status: 503, title: "The query took too long", retryAfter: 1 },
}

/** Returns status and title of a code. */
export const answerOf = (code: ErrorCode): ErrorStatus => pluginError(code) ?? ANSWERS[code as CoreErrorCode]

/**
 * Returns the configured base URL or, if there is none, the origin to which the request was sent. The `type` of an error is
 * absolute in either case.
 */
export const baseUrlFor = (request: Request, configured: string): string => configured || (URL.parse(request.url)?.origin ?? LOOPBACK)

/** Origin used for a request whose `Host` is missing or malformed. */
const LOOPBACK = "http://localhost"

/** Creates the response to a failure as problem+json (RFC 9457). `given` are additional headers with `x-request-id`. */
export function problem(failure: AppError, baseUrl: string, given: Headers | Record<string, string>): Response {
  const { status, retryAfter } = answerOf(failure.code)
  const { retry_after = retryAfter, etag } = failure.members
  const headers = new Headers(given)
  headers.set("content-type", "application/problem+json")
  if (retry_after !== undefined) headers.set("retry-after", String(Math.ceil(retry_after)))
  if (etag !== undefined) headers.set("etag", etag)
  return new Response(JSON.stringify(problemBody(failure, baseUrl, headers.get("x-request-id") ?? undefined)), { status, headers })
}

/** Returns the body of a problem, for responses that contain several. */
export function problemBody({ code, message, members }: AppError, baseUrl: string, request_id: string | undefined) {
  const { status, title } = answerOf(code)
  const { retry_after: _, etag: __, errors, ...others } = members
  return { type: `${baseUrl}/errors/${code}`, title, status, detail: message, code, request_id, errors: errors?.map(cut), ...others }
}

/** Truncates pointer and detail of a fault, because they contain names from the request, which can be of any length. */
const cut = (fault: Fault): Fault => ({ ...fault, pointer: fault.pointer.slice(0, 200), detail: fault.detail.slice(0, 500) })

/** Converts a thrown value to a failure that callers may see. Writes the cause of unexpected failures to the log only. */
export function toFailure(thrown: unknown, requestId: string, log: Log): AppError {
  const refusal = storeRefusal(thrown)
  if (refusal instanceof AppError) return refusal
  // The client closed the connection while its body was read. This is not a failure of the server.
  if (thrown instanceof Error && thrown.name === "AbortError") return new AppError("unavailable", "The request was interrupted.")
  log.error("request failed", { request_id: requestId, error: thrown })
  return internalError()
}

export interface ErrorOptions {
  baseUrl: string
  log: Log
  methodsAt(path: string): readonly string[]
}

/** Creates the error responses of all routes. */
export const errors = ({ baseUrl, methodsAt, log }: ErrorOptions) =>
  new Elysia({ name: "errors" }).onError({ as: "global" }, ({ code, error, path, request, set }) => {
    const methods = code === "NOT_FOUND" ? methodsAt(path) : []
    if (methods.length > 0) set.headers.allow = methods.join(", ")
    const failure = methods.length > 0 ? methodNotAllowed(methods) : fromElysia(code, error, request)
    // Returning a Response discards the headers set so far, such as WWW-Authenticate, so they are passed on. Their values are strings.
    const headers = set.headers as Record<string, string>
    return problem(toFailure(failure, headers["x-request-id"] ?? "", log), baseUrlFor(request, baseUrl), headers)
  })

/** Converts Elysia's own failures to ours. Returns other errors unchanged. */
function fromElysia(code: unknown, thrown: unknown, request: Request): unknown {
  // An error thrown by a `parse` hook is wrapped in a parse error.
  const error = code === "PARSE" && thrown instanceof Error ? (thrown.cause ?? thrown) : thrown
  if (error instanceof AppError) return error
  if (code === "NOT_FOUND") return notFound()
  if (code === "PARSE" && error === thrown) return new AppError("invalid_json", "The body is not valid JSON.")
  // The code identifies the class.
  return code === "VALIDATION" ? fromValidation(thrown as ValidationError, request) : error
}

function fromValidation(error: ValidationError, request: Request): unknown {
  const { type, all } = error
  // Our own response violates its schema. This is a bug, and its details must not be visible to callers.
  if (type === "response") return error
  if (type === "body" && request.body === null) return new AppError("invalid_json", "The body is missing.")
  // A field can be reported several times. Only its first fault is used.
  const errors = firstPerPointer(all.flatMap((each) => ("path" in each ? [...toFaults(each, "")] : []))).slice(0, 20)
  const detail = errors.length === 1 ? "1 field is not valid." : `${errors.length} fields are not valid.`
  return new AppError(type === "query" ? "invalid_query" : "validation_failed", detail, { errors })
}

export const notFound = () => new AppError("not_found", "This address does not exist.")
const internalError = () => new AppError("internal_error", "The server failed. The log contains the cause.")
export const methodNotAllowed = (methods: readonly string[]) => new AppError("method_not_allowed", `Use ${methods.join(" or ")}.`)
