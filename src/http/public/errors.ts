import { Elysia } from "elysia"
import { AppError, ERROR_CODES, type ErrorCode } from "../../domain/error.ts"
import { wantsPage } from "../accept.ts"
import { answerOf } from "../errors.ts"

/** What to do about each code, for people. */
const MEANINGS: Record<ErrorCode, string> = {
  invalid_json: "The body must be JSON in UTF-8, nested at most 10 levels deep, and must not be missing.",
  invalid_query: "A query parameter is unknown, given twice, of the wrong form or out of range. The member errors names each.",
  invalid_cursor: "The cursor is unreadable, outdated or of another list. Start again without one.",
  invalid_header: "A header is missing or malformed, for example Host or Idempotency-Key.",
  invalid_event: "The event sent to a collect address cannot be read. The member errors names each fault.",
  missing_api_key: "Send the header Authorization: Bearer with an API key. Keys in query strings and cookies are not read.",
  invalid_api_key: "The key is unknown, mistyped, revoked, expired, or used from an address outside its list.",
  session_required: "Sign in. The session has ended, or there was none; API keys are not read here.",
  share_locked: "Unlock the view first: POST its password to the address of the view with /unlock behind it.",
  invalid_credentials: "The e-mail address, the password or the passkey is not right, or the user may not sign in.",
  invalid_code: "The code of the second factor is not right, or was used before.",
  ticket_invalid: "The step before this one is unknown, used, expired, or was tried too often. Begin again.",
  insufficient_scope: "The key lacks a scope. The member required_scopes names those of which any one is enough.",
  unrestricted_key_required: "The operation needs a key for all sites of the organization; this one is limited to chosen sites.",
  origin_not_allowed: "Pages of this origin may not speak to the MCP endpoint. The operator can allow it.",
  forbidden: "The role in the organization or on the site does not allow this. The member required_permission names what is missing.",
  reauth_required: "Prove again who you are, by password or second factor; it holds for ten minutes.",
  mfa_enrollment_required: "The organization wants a second factor. Add one to the account.",
  setup_token_invalid: "The console prints a token at each start, and a new one when it expires. Send the latest.",
  sso_required: "An organization of the user, or the instance, wants people to sign in through an identity provider.",
  own_session_required:
    "An organization's provider has opened the session, and it speaks for that organization alone: the account is changed, and who one is proved, by another way.",
  insecure_connection:
    "People sign in over https, or on the machine itself. The operator can allow plain HTTP with FOOTFALL_ALLOW_INSECURE_HTTP.",
  impersonation_read_only: "Whoever acts for somebody else in read-only mode cannot change anything.",
  invitation_for_other_email: "Sign in with the address that was invited, or sign out to make an account.",
  not_found: "There is nothing at this address. Check its spelling.",
  feature_disabled: "The area is switched off on this instance. Its data is kept.",
  session_not_found: "You have no live session with this id.",
  passkey_not_found: "You have no passkey with this id.",
  provider_not_found: "There is no identity provider of this name, or it is switched off.",
  organization_not_found: "There is no such organization, or you are not a member of it.",
  site_not_found: "There is no such site, or the key may not see it.",
  goal_not_found: "The site has no goal with this id.",
  funnel_not_found: "The site has no funnel with this id.",
  annotation_not_found: "The site has no annotation with this id.",
  segment_not_found: "The site has no segment with this id that is visible to you.",
  share_not_found: "The site has no shared view with this id.",
  shield_not_found: "The site has no shield with this id.",
  link_not_found: "There is no link with this id on the site, or it was deleted.",
  pixel_not_found: "There is no pixel with this id on the site, or it was deleted.",
  template_not_found: "There is no campaign template with this id for the site.",
  work_not_found: "Nothing was begun under this id, or what it made is gone.",
  user_not_found: "There is no such user where it was looked for.",
  invitation_not_found: "The invitation is unknown, used, withdrawn or over. Ask for another one.",
  api_key_not_found: "The organization has no API key with this id.",
  domain_not_found: "The organization has not named this domain.",
  backup_not_found: "There is no backup with this id in the data folder or the bucket.",
  job_not_found: "There is no job with this id, or it was forgotten since.",
  setting_not_found: "There is no setting of this name that the console knows.",
  method_not_allowed: "The address exists, but not for this method. The header Allow lists those that work.",
  not_acceptable: "The header Accept admits no format that the operation offers.",
  goal_exists: "The site has a goal with the same definition or the same name. The member existing_id names it.",
  funnel_exists: "The site has a funnel of this name. The member existing_id names it.",
  slug_taken: "Another one has this slug. The member suggestions names free ones.",
  slug_recently_used: "Something that was deleted had this slug within the last 90 days. The same organization may take it with force.",
  domain_in_use: "The host is a link domain already, or links still use it.",
  segment_in_use: "Other things filter by the segment. The member used_by names them; force=true deletes it all the same.",
  idempotency_in_progress: "The first request with this Idempotency-Key has not been answered yet. Send it again in a second.",
  compat_id_taken: "An id of another product can belong to one site of the instance. The member pointer tells which one is taken.",
  already_set_up: "The instance has been set up. Sign in instead.",
  last_owner: "An organization always has an owner. Make somebody else one first.",
  last_instance_admin: "Make somebody else an instance admin first.",
  sole_owner: "Name another active member as owner of each organization that the member organizations lists.",
  email_taken: "Another user signs in with this address.",
  set_elsewhere: "The environment or the settings file holds this setting. The member source tells where to change it.",
  backup_running: "One backup is made at a time. Wait until the running one has ended.",
  restore_running: "The stores are being exchanged. Wait until the instance answers again.",
  mfa_required_by_policy: "An organization or the instance wants a second factor. Add another one first.",
  mail_unavailable: "The instance has no mail server, and this needs one. The operator can set smtp_host.",
  already_member: "The address belongs to a member of the organization.",
  domain_taken: "Another organization has proved by DNS that the domain is its own.",
  provider_required: "Members sign in through an identity provider alone, and none that lets them in would be left.",
  version_conflict: "The thing has another version than the body names. The member current holds it as it is now.",
  invalid_state: "The thing is in a state that does not allow this. The member state names it.",
  precondition_failed: "The resource has another version than the header If-Match names. Read it again; ETag tells its version.",
  body_too_large: "The body is larger than the operation takes. The member limit_bytes tells how much that is.",
  unsupported_media_type: "The header Content-Type names a format the operation does not take.",
  misdirected_request: "The instance does not serve the dashboard under this host name.",
  validation_failed: "Fields of the body are missing, unknown or not valid. The member errors names each, with a pointer into the body.",
  token_invalid: "The link is unknown, used or expired. Ask for a new one.",
  idempotency_key_reused: "The Idempotency-Key was sent before with another body. Use a new key for another request.",
  limit_reached: "There are as many of these as are allowed. The members resource and limit say of what and how many.",
  sharing_disabled: "The organization does not allow views that everybody can open.",
  password_required: "The organization allows shared views only with a password.",
  embed_needs_no_password: "A page that embeds the view cannot keep it unlocked. Take the password or the origins away.",
  not_allowed: "Whoever shared the view has fixed its range or its filters.",
  invalid_slug: "A slug has 1 to 64 letters, digits, hyphens and underscores.",
  slug_reserved: "The program has this word for itself. Choose another one.",
  invalid_destination: "Links lead to absolute http and https addresses without credentials. The member reason names what is wrong.",
  destination_not_allowed: "The operator allows links to certain hosts only, or forbids this one.",
  redirect_loop: "Links of this instance lead to one another in a circle, or over more than three of them.",
  utm_required: "The template wants fields that are empty. The member errors names them.",
  low_contrast: "Cameras need a contrast of at least 4:1 between the colours of a code, the darker one in front.",
  backup_corrupt: "A file of the backup is missing, changed or damaged. Nothing was replaced. Use another backup.",
  backup_too_new: "The backup was made by a newer version. Nothing was replaced. Install that version first.",
  backup_foreign: "The file is no backup of this program. Nothing was replaced.",
  wrong_passphrase: "The backup is encrypted and the passphrase does not open it. Nothing was replaced.",
  not_enough_space: "The work needs more free space than the disk has. The members needed_bytes and free_bytes tell how much.",
  domain_not_verified: "The DNS does not show the TXT record yet. It can take some hours until a new one is seen.",
  identity_insufficient: "The report follows visitors for longer than the site recognizes them.",
  blocked_address: "The instance calls public addresses only, by https and on the usual ports. The operator can open others.",
  outbound_disabled: "The operator has forbidden requests to the outside: FOOTFALL_OUTBOUND=off.",
  outbound_failed: "The other side could not be reached, was too slow, or said too much. Try again later.",
  rate_limited: "Too many requests. Wait as many seconds as the header Retry-After says.",
  internal_error: "The server failed. The cause is in its log under the request id.",
  setup_required: "Nobody has set the instance up. Open it in a browser, or run footfall setup.",
  maintenance: "The instance is being maintained. Reading goes on, and so does collecting.",
  unavailable: "The service cannot take this request now. Try again after the time in the header Retry-After.",
  storage_full: "The disk of the server is full. Nothing of the request was stored. Reading goes on.",
  storage_damaged: "A part of the stored data cannot be read. The operator must restore a backup.",
  query_timeout: "The report took longer than 15 seconds. Ask for a shorter range or fewer groupings.",
}

/** What a code means, and what to do about it. */
export const meaningOf = (code: ErrorCode): string => MEANINGS[code]

/** `GET /errors/{code}`: where the member `type` of every problem leads. A page for people, JSON for programs. */
export const errorRoutes = () =>
  new Elysia().get(
    "/errors/:code",
    ({ params, request, set }) => {
      const code = ERROR_CODES.find((known) => known === params.code)
      if (code === undefined) throw new AppError("not_found", "There is no error code of this name.")
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
