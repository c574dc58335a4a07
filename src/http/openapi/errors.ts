import { Elysia } from "elysia"
import { AppError, type CoreErrorCode, type ErrorCode } from "../../domain/error.ts"
import { allErrorCodes, pluginError } from "../../plugin/errors.ts"
import { wantsPage } from "../accept.ts"
import { answerOf } from "../errors.ts"

/** Explanation of each code: what happened and what to do. */
const MEANINGS: Record<CoreErrorCode, string> = {
  invalid_json: "The body must be JSON in UTF-8 with at most 10 levels of nesting. It must not be empty.",
  invalid_query: "A query parameter is unknown, repeated, malformed or out of range. The member errors lists each problem.",
  invalid_cursor: "The cursor is malformed, outdated or belongs to another list. Start again without a cursor.",
  invalid_header: "A header is missing or malformed, for example Host or Idempotency-Key.",
  invalid_event: "The event could not be read. The member errors lists each problem.",
  missing_api_key: "Send an API key in the header Authorization: Bearer. Keys in query strings and cookies are ignored.",
  invalid_api_key: "The key is unknown, mistyped, revoked, expired or used from an IP address that it does not allow. Check the key.",
  session_required: "You are not signed in, or your session has ended. Sign in. API keys are not accepted here.",
  share_locked: "The view is protected by a password. Send it in a POST request to the address of the view followed by /unlock.",
  invalid_credentials: "The email address, password or passkey is incorrect, or the user is not allowed to sign in.",
  invalid_code: "The code of the second factor is incorrect or has already been used. Enter the next code.",
  ticket_invalid: "The previous step of the sign-in is unknown, has expired, has been used or had too many attempts. Start again.",
  insufficient_scope: "The key does not have the required scope. The member required_scopes lists the scopes, one of which is enough.",
  unrestricted_key_required:
    "The operation needs a key with access to all sites of the organization. This key is limited to selected sites.",
  origin_not_allowed: "Pages of this origin must not send this request. The operator can allow further origins.",
  forbidden:
    "Your role in the organization or on the site does not allow this, or your API key has too few rights. The member required_permission names the missing permission, if it is a single one.",
  reauth_required: "Confirm your identity with your password or second factor. The confirmation is valid for ten minutes.",
  mfa_enrollment_required: "Your organization requires a second factor. Add one in your account settings.",
  setup_token_invalid: "The console prints a token at each start and a new one when it expires. Use the latest token.",
  sso_required: "Your organization or the instance requires single sign-on. Sign in with the identity provider.",
  own_session_required:
    "You signed in with the identity provider of an organization, and such a session cannot change your account. Sign in with your own password or passkey.",
  insecure_connection:
    "Signing in requires HTTPS or a connection from the same machine. The operator can allow plain HTTP with FOOTFALL_ALLOW_INSECURE_HTTP.",
  impersonation_read_only: "You are impersonating a user in read-only mode, so you cannot change anything.",
  invitation_for_other_email:
    "The invitation was sent to another email address. Sign in with that address, or sign out to create an account.",
  not_found: "The address does not exist. Check its spelling.",
  feature_disabled: "The feature is disabled on this instance. Its data is kept.",
  session_not_found: "You have no active session with this id.",
  passkey_not_found: "You have no passkey with this id.",
  provider_not_found: "No identity provider with this name exists, or it is disabled.",
  organization_not_found: "The organization does not exist, or you are not a member of it.",
  site_not_found: "The site does not exist, or the key has no access to it.",
  goal_not_found: "The site has no goal with this id.",
  funnel_not_found: "The site has no funnel with this id.",
  annotation_not_found: "The site has no annotation with this id.",
  segment_not_found: "The site has no segment with this id, or the segment is not shared with you.",
  share_not_found: "The site has no shared view with this id.",
  shield_not_found: "The site has no shield with this id.",
  visit_not_found: "The site has recorded no visit with this id, or the visit was removed.",
  work_not_found: "No job with this id was started, or its result has been deleted.",
  user_not_found: "The user does not exist here.",
  invitation_not_found: "The invitation is unknown, used, withdrawn or expired. Ask for a new one.",
  api_key_not_found: "The organization has no API key with this id.",
  domain_not_found: "The organization has not added this domain.",
  host_proof_not_found: "The organization has no host verification with this id.",
  host_dispute_not_found: "The host is not disputed: sites of at most one organization claim it.",
  backup_not_found: "Neither the data folder nor the bucket contains a backup with this id.",
  job_not_found: "No job with this id exists. Old jobs are deleted.",
  setting_not_found: "No setting with this name exists.",
  method_not_allowed: "The address does not support this method. The header Allow lists the supported methods.",
  not_acceptable: "The operation offers none of the formats in the header Accept.",
  goal_exists: "The site already has a goal with the same definition or name. The member existing_id is its id.",
  funnel_exists: "The site already has a funnel with this name. The member existing_id is its id.",
  slug_taken: "The slug is already in use. The member suggestions lists free slugs.",
  slug_recently_used:
    "The slug was used by an item deleted within the last 90 days and is reserved. The same organization can use it with force=true.",
  segment_in_use:
    "The segment is used by other items, listed in the member used_by. Change them first, or in the dashboard send force=true to delete it anyway.",
  idempotency_in_progress: "The first request with this Idempotency-Key is still being processed. Retry after a second.",
  compat_id_taken: "The id of another product is already used by another site of this instance. The member pointer names the field.",
  already_set_up: "The instance is already set up. Sign in.",
  last_owner: "An organization must have at least one owner. Make another member an owner first.",
  last_instance_admin: "The instance must have at least one admin. Make another user an instance admin first.",
  sole_owner:
    "The user is the only owner of the organizations in the member organizations. Make another active member an owner of each first.",
  email_taken: "Another user already signs in with this email address.",
  set_elsewhere: "The setting is defined by the environment or the settings file. The member source names the place.",
  backup_running: "Only one backup can run at a time. Wait until the current one has finished.",
  restore_running: "A backup is being restored. Wait until the instance responds again.",
  mfa_required_by_policy: "Your organization or the instance requires a second factor. Add another one before you remove this one.",
  mail_unavailable: "No mail server is configured, and this action needs one. The operator can set smtp_host.",
  already_member: "A member of the organization already uses this email address. The member existing_id is the id of the user.",
  domain_taken: "Another organization has verified this domain through DNS.",
  provider_required: "Members must use single sign-on, and this change would leave no active identity provider for them.",
  version_conflict: "The resource was changed after you read it. The member current contains its current state.",
  invalid_state: "The current state of the resource does not allow this. The member state names the state.",
  precondition_failed: "The resource was changed after you read it: its version does not match the header If-Match. Read it again.",
  body_too_large: "The body is larger than the operation accepts. The member limit_bytes is the maximum size in bytes.",
  unsupported_media_type: "The operation does not accept the format in the header Content-Type.",
  misdirected_request: "The instance does not serve the dashboard under this host name. The operator can set base_url or allowed_hosts.",
  validation_failed: "Fields of the body are missing, unknown or not valid. The member errors lists each with a pointer into the body.",
  token_invalid: "The link is unknown, used or expired. Request a new one.",
  idempotency_key_reused: "This Idempotency-Key was already used with another body. Use a new key for each request.",
  limit_reached: "The maximum number of these items is reached. The members resource and limit name the kind and the maximum.",
  sharing_disabled: "The organization does not allow public shared views.",
  password_required: "The organization allows shared views only with a password. Set a password.",
  embed_needs_no_password: "An embedded view cannot be unlocked with a password. Remove the password or the embedding origins.",
  not_allowed: "The range or the filters of this shared view are fixed and cannot be changed.",
  invalid_slug: "A slug must have 1 to 64 letters, digits, hyphens or underscores.",
  slug_reserved: "The slug is reserved for the program. Choose another one.",
  backup_corrupt: "A file of the backup is missing, changed or damaged. Nothing was replaced. Use another backup.",
  backup_too_new: "The backup was created by a newer version. Nothing was replaced. Install that version first.",
  backup_foreign: "The file is not a backup of this program. Nothing was replaced.",
  wrong_passphrase: "The backup is encrypted, and the passphrase does not decrypt it. Nothing was replaced.",
  not_enough_space: "The disk does not have enough free space. The members needed_bytes and free_bytes give the sizes in bytes.",
  domain_not_verified: "DNS does not return the TXT record yet. A new record can take several hours to become visible.",
  broken_reference: "A filter names a cohort whose definition refers to something that was deleted. Edit the cohort.",
  identity_insufficient: "The report needs visitors to be recognized for longer than the identity mode of the site allows.",
  blocked_address: "The instance only sends requests to public addresses, over HTTPS and on standard ports. The operator can allow others.",
  outbound_disabled: "The operator has disabled outgoing requests (FOOTFALL_OUTBOUND=off).",
  outbound_failed: "The remote server could not be reached, took too long or returned too much data. Try again later.",
  rate_limited: "Too many requests. Wait for the number of seconds in the header Retry-After.",
  internal_error: "The server failed. The log contains the cause under the request id.",
  setup_required: "The instance is not set up. Open it in a browser, or run footfall setup.",
  maintenance: "The instance is in maintenance mode. Reading and tracking still work. Try again later.",
  unavailable: "The service cannot process the request now. Retry after the time in the header Retry-After.",
  storage_full: "The disk of the server is full, and nothing from the request was stored. Reading still works.",
  storage_damaged: "Part of the stored data cannot be read. The operator must restore a backup.",
  query_timeout: "The report took longer than 15 seconds. Use a shorter range or fewer dimensions.",
}

/** Returns the explanation of a code. */
export const meaningOf = (code: ErrorCode): string => pluginError(code)?.meaning ?? MEANINGS[code as CoreErrorCode]

/** Creates `GET /errors/{code}`, to which the member `type` of every problem points. Returns a page for browsers, JSON for programs. */
export const errorRoutes = () =>
  new Elysia().get(
    "/errors/:code",
    ({ params, request, set }) => {
      const code = allErrorCodes().find((known) => known === params.code)
      if (code === undefined) throw new AppError("not_found", "No error code with this name exists.")
      const { status, title } = answerOf(code)
      const meaning = meaningOf(code)
      set.headers.vary = "accept"
      if (!wantsPage(request)) return { code, status, title, meaning }
      set.headers["content-type"] = "text/html; charset=utf-8"
      return page(code, status, title, meaning)
    },
    { detail: { hide: true } },
  )

const page = (code: ErrorCode, status: number, title: string, meaning: string): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>
<body><main><h1>${title}</h1><p>${meaning}</p><p>Code <code>${code}</code>, status ${status}.</p></main></body>
</html>
`
