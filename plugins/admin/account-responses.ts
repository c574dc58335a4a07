/** Responses about users, organizations and sites of the instance. The pages of the console take their types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { type Console, CREATED_AT, field, Instant, orNull } from "#plugin"

export const Id = t.Integer({ minimum: 1 })

/** Member of every record that can be changed. */
export const VERSION = field.integer("Version of the record, which increases with each change.")
const named = (description: string, noun: string) =>
  t.Object({ id: field.id(`Id of the ${noun}.`), name: field.text(`Display name of the ${noun}.`) }, { description })

export const UserResponse = t.Object(
  {
    id: t.Union([Id, t.Null()], { description: "Id of the user. null for an invited person without an account." }),
    invitation_id: t.Optional(t.Integer({ minimum: 1, description: "Id of the invitation. Present only for status `invited`." })),
    email: field.text("Email address."),
    name: field.text("Display name. Empty for an invited person."),
    status: t.Unsafe<Awaited<ReturnType<Console["users"]["get"]>>["status"]>(
      t.String({ description: "`active`, `invited` or `disabled`." }),
    ),
    is_instance_admin: field.flag("Whether the user has access to the admin console."),
    organizations: t.Array(
      t.Object({
        id: field.id("Id of the organization."),
        name: field.text("Display name of the organization."),
        role: field.text("Role of the user in the organization."),
      }),
      { description: "Organizations of the user. For an invited person, those of the invitations." },
    ),
    mfa: t.Object(
      { totp: field.flag("Whether an authenticator app is set up."), passkeys: field.integer("Number of passkeys.") },
      { description: "Second factors of the user." },
    ),
    auth: t.Object(
      { password: field.flag("Whether the user has a password."), oidc: field.texts("Ids of the linked identity providers.") },
      { description: "Sign-in methods of the user." },
    ),
    created_at: CREATED_AT,
    last_login_at: orNull(Instant, { description: "Time of the latest sign-in. null before the first." }),
    last_seen_at: orNull(Instant, { description: "Time of the latest request. null before the first sign-in." }),
    sessions: t.Integer({ description: "Number of active sessions." }),
    api_keys: t.Integer({ description: "Number of API keys that the user created." }),
    version: VERSION,
  },
  { title: "InstanceUser" },
)
export type UserResponse = Static<typeof UserResponse>

export const Link = t.Optional(t.String({ description: "Link to hand over if no email is sent. Shown once." }))

export const LinkedUserResponse = t.Composite([UserResponse, t.Object({ link: Link })], { title: "LinkedUser" })
export type LinkedUserResponse = Static<typeof LinkedUserResponse>

export const OrganizationResponse = t.Object(
  {
    id: field.id("Id of the organization."),
    name: field.text("Display name."),
    members: field.integer("Number of members, guests included."),
    owners: field.integer("Number of owners."),
    sites: field.integer("Number of sites."),
    keys: field.integer("Number of API keys."),
    events_30d: t.Integer({ description: "Number of events of the last 30 days." }),
    bytes: t.Integer({ description: "Size of the stored events in bytes." }),
    created_at: CREATED_AT,
    version: VERSION,
  },
  { title: "InstanceOrganization" },
)
export type OrganizationResponse = Static<typeof OrganizationResponse>

export const MemberResponse = t.Object({
  user: t.Object(
    { id: field.id("Id of the user."), name: field.text("Display name."), email: field.text("Email address.") },
    { description: "User." },
  ),
  role: field.text("Role in the organization: `owner`, `admin`, `editor`, `viewer` or `guest`."),
  mfa: field.flag("Whether the user has a second factor."),
  last_seen_at: t.Union([Instant, t.Null()], { description: "Time of the latest request. null before the first sign-in." }),
  joined_at: field.instant("Time at which the user became a member."),
  version: VERSION,
})
export type MemberResponse = Static<typeof MemberResponse>

export const InvitationResponse = t.Object({
  id: field.id("Id of the invitation."),
  organization: named("Organization that the invited person will join.", "organization"),
  email: field.text("Email address of the invited person."),
  role: field.text("Role of the future member."),
  has_account: field.flag("Whether a user with this email address exists."),
  created_at: CREATED_AT,
  expires_at: field.instant("Expiry time."),
  sent_at: orNull(Instant, { description: "Time at which the email was sent. null when the link is passed on by hand." }),
})
export type InvitationResponse = Static<typeof InvitationResponse>

export const KeyResponse = t.Object(
  {
    id: field.id("Id of the key."),
    organization: named("Organization that owns the key.", "organization"),
    name: field.text("Display name."),
    prefix: field.text("Visible beginning of the key, for recognizing it."),
    last4: field.text("Last four characters of the key."),
    scopes: field.texts("Granted scopes."),
    site_ids: orNull(t.Array(t.Integer()), { description: "Ids of the sites of a limited key. null: all sites." }),
    owner_email: orNull(t.String(), { description: "Email address of the owner of a personal key. null for other keys." }),
    state: field.text("State: `active`, `expired` or `revoked`."),
    created_at: CREATED_AT,
    expires_at: orNull(Instant, { description: "Expiry time. null if the key never expires." }),
    last_used_at: orNull(Instant, { description: "Time of the latest request. null before the first." }),
  },
  { title: "InstanceKey" },
)
export type KeyResponse = Static<typeof KeyResponse>

export const SessionResponse = t.Object(
  {
    id: field.id("Id of the session."),
    user: t.Object({ id: field.id("Id of the user."), email: field.text("Email address.") }, { description: "Signed-in user." }),
    method: field.text("Sign-in method: `password`, `passkey`, `oidc`, `setup`, `invitation` or `impersonation`."),
    mfa: field.flag("Whether a second factor, or a passkey that counts as two factors, was used."),
    device: field.text("Browser and operating system."),
    ip_prefix: field.text("Prefix of the IP address: /24 for IPv4, /48 for IPv6."),
    place: field.text("Country or city of the IP address. Empty when unknown."),
    created_at: field.instant("Time of the sign-in."),
    last_seen_at: field.instant("Time of the latest request."),
    expires_at: field.instant("Time at which the session ends at the latest."),
    current: field.flag("Whether the request was sent from this session."),
    impersonation: t.Optional(
      t.Object(
        { by: field.text("Email address of the instance admin."), mode: field.text("Mode: `read_only` or `full`.") },
        { description: "Impersonation by an instance admin. Absent from other sessions." },
      ),
    ),
  },
  { title: "InstanceSession" },
)
export type SessionResponse = Static<typeof SessionResponse>

export const SiteResponse = t.Object(
  {
    id: field.id("Id of the site."),
    name: field.text("Display name."),
    hosts: field.texts("Hosts of the site."),
    organization: named("Organization that owns the site.", "organization"),
    events_24h: t.Integer({ description: "Number of events of the last 24 hours." }),
    events_30d: t.Integer({ description: "Number of events of the last 30 days." }),
    bytes: t.Integer({ description: "Size of the stored events in bytes." }),
    last_event_at: orNull(Instant, { description: "Time of the latest event. null until the first one." }),
    retention_days: t.Union([t.Integer(), t.Null()], { description: "Number of days that events are kept. null means forever." }),
    created_at: CREATED_AT,
    deleted_at: t.Optional(field.instant("Time of the deletion. Present only for a deleted site, which can be restored for 30 days.")),
    version: VERSION,
  },
  { title: "InstanceSite", description: "Site with its figures." },
)
export type SiteResponse = Static<typeof SiteResponse>

/** A transferred site, with the keys and members of the former organization that have lost access to it. */
export const TransferResponse = t.Object({
  site: SiteResponse,
  detached: t.Object(
    {
      api_keys: t.Array(t.Object({ id: field.id("Id of the key."), name: field.text("Display name of the key.") }), {
        description: "API keys that have lost access to the site.",
      }),
      site_members: t.Array(
        t.Object({
          user_id: field.id("Id of the user."),
          email: field.text("Email address of the user."),
          role: field.text("Former role on the site."),
        }),
        { description: "Site-specific roles that have ended." },
      ),
    },
    { description: "Access of the former organization that ended with the transfer." },
  ),
})
export type TransferResponse = Static<typeof TransferResponse>

type Owner = NonNullable<Awaited<ReturnType<Console["hostDisputes"]["get"]>>["owner"]>

export const DisputeResponse = t.Object(
  {
    host: t.String({ description: "Disputed host. `*.example.com` stands for every host below `example.com`." }),
    organizations: t.Array(
      t.Object({
        id: field.id("Id of the organization."),
        name: field.text("Display name of the organization."),
        sites: t.Array(t.Object({ id: field.id("Id of the site."), name: field.text("Display name of the site.") }), {
          description: "Sites of the organization that list the host.",
        }),
        listed_at: t.String({ format: "date-time", description: "Time at which one of the sites first listed the host." }),
        has_events: t.Boolean({ description: "Whether a site has events from the host." }),
        is_proved: t.Boolean({ description: "Whether the organization has proved the host by a DNS record." }),
      }),
      { description: "Organizations whose sites list the host." },
    ),
    owner: orNull(
      t.Object({
        organization_id: field.id("Id of the organization."),
        reason: t.Unsafe<Owner["reason"]>(t.String({ description: "`decided`, `proved` or `listed_first`." })),
      }),
      { description: "Organization to which the host belongs. null if that is undecided." },
    ),
    decision: orNull(
      t.Object({ organization_id: field.id("Id of the organization."), decided_at: field.instant("Time of the decision.") }),
      { description: "Decision of an instance admin. null without one." },
    ),
  },
  { title: "InstanceHostDispute" },
)
export type DisputeResponse = Static<typeof DisputeResponse>
