import { type Static, type TSchema, Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { PUBLIC_LINKS } from "./share.ts"
import { IDENTITY_MODES } from "./visit.ts"

const days = t.Integer({ minimum: 1, maximum: 3_650 })
const daysOrNull = t.Union([days, t.Null()])
const oneOf = <const Choice extends string>(...choices: Choice[]) => t.Unsafe<Choice>(t.Union(choices.map((choice) => t.Literal(choice))))

/**
 * The settings that an instance admin can change while the instance runs (areas/09 section 7), with their defaults. A setting
 * that is set in the environment or in the configuration file can only be changed there.
 */
export const INSTANCE_SETTINGS = {
  registration: {
    group: "sign-up",
    about: "Who can create an account: `closed` (no one) or `invite` (invited people).",
    schema: oneOf("closed", "invite"),
    default: "invite",
  },
  organization_creation: {
    group: "sign-up",
    about: "Who can create organizations: `admins` (instance admins) or `users` (all users).",
    schema: oneOf("admins", "users"),
    default: "admins",
  },
  require_mfa: {
    group: "security",
    about: "Who must use two-factor authentication: `none` (no one), `admins` (instance admins) or `all` (all users).",
    schema: oneOf("none", "admins", "all"),
    default: "none",
  },
  sso_only: {
    group: "security",
    about:
      "Whether users other than instance admins must sign in through an identity provider. Has no effect without a provider for the whole instance.",
    schema: t.Boolean(),
    default: false,
  },
  session_idle_days: {
    group: "security",
    about: "Number of days without a request after which a session expires.",
    schema: days,
    default: 7,
  },
  session_absolute_days: { group: "security", about: "Number of days after sign-in when a session expires.", schema: days, default: 30 },
  key_default_days: { group: "security", about: "Default lifetime of an API key, in days.", schema: days, default: 365 },
  key_max_days: {
    group: "security",
    about: "Maximum lifetime of an API key, in days. Default: unlimited.",
    schema: daysOrNull,
    default: null,
  },
  default_retention_days: {
    group: "privacy",
    about: "Retention, in days, for sites without their own setting. Default: events are kept forever.",
    schema: daysOrNull,
    default: null,
  },
  default_identity_mode: {
    group: "privacy",
    about: "Default identity mode of new sites: how long a visitor is recognized.",
    schema: oneOf(...IDENTITY_MODES),
    default: "daily",
  },
  default_respect_gpc: {
    group: "privacy",
    about: "Whether new sites drop events from browsers that send Do Not Track or Global Privacy Control.",
    schema: t.Boolean(),
    default: false,
  },
  store_user_ids_allowed: {
    group: "privacy",
    about: "Whether sites can store user ids from their own systems.",
    schema: t.Boolean(),
    default: false,
  },
  public_links: {
    group: "sharing",
    about:
      "Whether sites and dashboards can be shared by a public link: `allowed`, `password_required` or `off`. Organizations can only be stricter.",
    schema: oneOf(...PUBLIC_LINKS),
    default: "allowed",
  },
  share_min_group: {
    group: "sharing",
    about: "Minimum number of visitors in a row of a shared view, for new sites. Smaller groups are hidden.",
    schema: t.Integer({ minimum: 1, maximum: 1_000 }),
    default: 5,
  },
  impersonation: {
    group: "impersonation",
    about: "Whether instance admins can impersonate users: `off`, `read_only` or `full`.",
    schema: oneOf("off", "read_only", "full"),
    default: "read_only",
  },
  impersonation_notify: {
    group: "impersonation",
    about: "Whether users are notified by email when an instance admin impersonates them.",
    schema: t.Boolean(),
    default: true,
  },
  updates_check: {
    group: "outbound",
    about: "Whether to check for a newer version at `updates_url` once a day. Only the current version is sent.",
    schema: t.Boolean(),
    default: false,
  },
} as const satisfies Record<string, { group: string; about: string; schema: TSchema; default: unknown }>

export type SettingKey = keyof typeof INSTANCE_SETTINGS
export type SettingValue<Key extends SettingKey> = Static<(typeof INSTANCE_SETTINGS)[Key]["schema"]>
export const SETTING_KEYS = Object.keys(INSTANCE_SETTINGS) as SettingKey[] // the keys of that object

export const isSettingKey = (name: string): name is SettingKey => Object.hasOwn(INSTANCE_SETTINGS, name)

/** Returns whether a value is allowed for a setting. */
export const isSettingValue = (key: SettingKey, value: unknown): boolean => Value.Check(INSTANCE_SETTINGS[key].schema, value)
