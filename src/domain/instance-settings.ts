import { type Static, type TSchema, Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { PUBLIC_LINKS } from "./share.ts"
import { IDENTITY_MODES } from "./visit.ts"

const days = t.Integer({ minimum: 1, maximum: 3_650 })
const daysOrNull = t.Union([days, t.Null()])
const oneOf = <const Choice extends string>(...choices: Choice[]) => t.Unsafe<Choice>(t.Union(choices.map((choice) => t.Literal(choice))))

/**
 * What an instance admin can change while the instance runs (areas/09 section 7); each with what holds until then. Environment
 * and file can hold each of them as well, and then it is changed there alone.
 */
export const INSTANCE_SETTINGS = {
  registration: {
    group: "sign-up",
    about: "Who may make an account: nobody, or the invited.",
    schema: oneOf("closed", "invite"),
    default: "invite",
  },
  organization_creation: {
    group: "sign-up",
    about: "Who may make organizations: instance admins, or all users.",
    schema: oneOf("admins", "users"),
    default: "admins",
  },
  require_mfa: {
    group: "security",
    about: "Who needs a second factor: nobody, instance admins, everybody.",
    schema: oneOf("none", "admins", "all"),
    default: "none",
  },
  sso_only: {
    group: "security",
    about: "Whether people other than instance admins sign in through an identity provider alone; without one of the instance no effect.",
    schema: t.Boolean(),
    default: false,
  },
  session_idle_days: { group: "security", about: "Days without a request after which a session ends.", schema: days, default: 7 },
  session_absolute_days: { group: "security", about: "Days after which every session ends.", schema: days, default: 30 },
  key_default_days: { group: "security", about: "Days for which an API key works unless chosen otherwise.", schema: days, default: 365 },
  key_max_days: {
    group: "security",
    about: "Days for which an API key may work at most; absent: for ever.",
    schema: daysOrNull,
    default: null,
  },
  default_retention_days: {
    group: "privacy",
    about: "Days for which events of sites are kept that name none; absent: for ever.",
    schema: daysOrNull,
    default: null,
  },
  default_identity_mode: {
    group: "privacy",
    about: "How long a visitor of a new site is known as the same one.",
    schema: oneOf(...IDENTITY_MODES),
    default: "daily",
  },
  default_respect_gpc: {
    group: "privacy",
    about: "Whether new sites drop events of browsers that object to being counted.",
    schema: t.Boolean(),
    default: false,
  },
  store_user_ids_allowed: {
    group: "privacy",
    about: "Whether sites may keep the ids by which their own systems know people.",
    schema: t.Boolean(),
    default: false,
  },
  public_links: {
    group: "sharing",
    about: "Whether sites and boards may be shared with everybody who has a link; organizations can only be stricter.",
    schema: oneOf(...PUBLIC_LINKS),
    default: "allowed",
  },
  share_min_group: {
    group: "sharing",
    about: "Groups of fewer visitors are hidden in what new sites share.",
    schema: t.Integer({ minimum: 1, maximum: 1_000 }),
    default: 5,
  },
  impersonation: {
    group: "impersonation",
    about: "Whether instance admins may act as a user: not at all, looking only, or fully.",
    schema: oneOf("off", "read_only", "full"),
    default: "read_only",
  },
  impersonation_notify: {
    group: "impersonation",
    about: "Tell users by mail when somebody acts as them.",
    schema: t.Boolean(),
    default: true,
  },
  updates_check: {
    group: "outbound",
    about: "Look for a newer version once a day, at the address of updates_url; the version is all that is sent.",
    schema: t.Boolean(),
    default: false,
  },
} as const satisfies Record<string, { group: string; about: string; schema: TSchema; default: unknown }>

export type SettingKey = keyof typeof INSTANCE_SETTINGS
export type SettingValue<Key extends SettingKey> = Static<(typeof INSTANCE_SETTINGS)[Key]["schema"]>
export const SETTING_KEYS = Object.keys(INSTANCE_SETTINGS) as SettingKey[] // its keys

export const isSettingKey = (name: string): name is SettingKey => Object.hasOwn(INSTANCE_SETTINGS, name)

/** Whether a value may be that of a setting. */
export const isSettingValue = (key: SettingKey, value: unknown): boolean => Value.Check(INSTANCE_SETTINGS[key].schema, value)
