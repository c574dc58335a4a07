import { type Static, Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"

const days = t.Integer({ minimum: 1, maximum: 3_650 })

/** What an instance admin can change while the instance runs (areas/09 section 7); each with what holds until then. */
export const INSTANCE_SETTINGS = {
  registration: { schema: t.Union([t.Literal("closed"), t.Literal("invite"), t.Literal("domain"), t.Literal("open")]), default: "invite" },
  registration_domains: { schema: t.Array(t.String({ minLength: 1, maxLength: 253 }), { maxItems: 100 }), default: [] },
  organization_creation: { schema: t.Union([t.Literal("admins"), t.Literal("users")]), default: "admins" },
  require_mfa: { schema: t.Union([t.Literal("none"), t.Literal("admins"), t.Literal("all")]), default: "none" },
  session_idle_days: { schema: days, default: 7 },
  session_absolute_days: { schema: days, default: 30 },
  key_default_days: { schema: days, default: 365 },
  key_max_days: { schema: t.Union([days, t.Null()]), default: null },
  public_links: { schema: t.Union([t.Literal("allowed"), t.Literal("password_required"), t.Literal("off")]), default: "allowed" },
  share_min_group: { schema: t.Integer({ minimum: 1, maximum: 1_000 }), default: 5 },
  impersonation: { schema: t.Union([t.Literal("off"), t.Literal("read_only"), t.Literal("full")]), default: "read_only" },
  impersonation_notify: { schema: t.Boolean(), default: true },
} as const

export type SettingKey = keyof typeof INSTANCE_SETTINGS
export type SettingValue<Key extends SettingKey> = Static<(typeof INSTANCE_SETTINGS)[Key]["schema"]>

export const isSettingKey = (name: string): name is SettingKey => Object.hasOwn(INSTANCE_SETTINGS, name)

/** Whether a value may be that of a setting. */
export const isSettingValue = (key: SettingKey, value: unknown): boolean => Value.Check(INSTANCE_SETTINGS[key].schema, value)
