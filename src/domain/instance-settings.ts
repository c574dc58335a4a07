import { type Static, type TSchema, Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"

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
    about: "Who may make an account: nobody, the invited, those of some mail domains, everybody.",
    schema: oneOf("closed", "invite", "domain", "open"),
    default: "invite",
  },
  registration_domains: {
    group: "sign-up",
    about: "Mail domains whose people may make an account.",
    schema: t.Array(t.String({ minLength: 1, maxLength: 253 }), { maxItems: 100 }),
    default: [],
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
  public_links: {
    group: "sharing",
    about: "Whether boards may be shared with everybody who has a link.",
    schema: oneOf("allowed", "password_required", "off"),
    default: "allowed",
  },
  share_min_group: {
    group: "sharing",
    about: "Groups of fewer visitors are hidden in what is shared.",
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
} as const satisfies Record<string, { group: string; about: string; schema: TSchema; default: unknown }>

export type SettingKey = keyof typeof INSTANCE_SETTINGS
export type SettingValue<Key extends SettingKey> = Static<(typeof INSTANCE_SETTINGS)[Key]["schema"]>
export const SETTING_KEYS = Object.keys(INSTANCE_SETTINGS) as SettingKey[] // its keys

export const isSettingKey = (name: string): name is SettingKey => Object.hasOwn(INSTANCE_SETTINGS, name)

/** Whether a value may be that of a setting. */
export const isSettingValue = (key: SettingKey, value: unknown): boolean => Value.Check(INSTANCE_SETTINGS[key].schema, value)
