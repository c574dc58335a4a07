import { Type as t } from "@sinclair/typebox"
import { caseKey, type Fault, fault, inspect, isClean, isEmail, isObject, refuseFaults } from "#plugin"
import { ALERT_TYPES, type Alert, type AlertChannel, DEFAULTS, LIMITS } from "./alert.ts"
import type { AlertFields } from "./rows.ts"

const closed = { additionalProperties: false } as const
const Channel = t.Union(
  [
    t.Object(
      {
        type: t.Literal("email", { description: "A member." }),
        address: t.String({ minLength: 3, maxLength: 254, description: "Address of a member of the site." }),
      },
      closed,
    ),
    t.Object(
      {
        type: t.Literal("connection", { description: "A chat connection." }),
        integration_id: t.Integer({ minimum: 1, description: "Id of a chat connection of the site." }),
      },
      closed,
    ),
  ],
  { description: "Where the alert is sent." },
)

const FIELDS = {
  threshold: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: "Number from which the alert fires, or for `drop` below which it fires. Not used by `no_data`.",
    }),
  ),
  factor: t.Optional(
    t.Union([t.Number({ minimum: 1, maximum: 1_000 }), t.Null()], {
      description: "Multiple of the usual current visitors in this hour of the week that a `spike` must reach as well. Default: null.",
    }),
  ),
  window_minutes: t.Optional(
    t.Union([t.Integer({ minimum: LIMITS.windowMinutes.min, maximum: LIMITS.windowMinutes.max }), t.Null()], {
      description: "Window in minutes. Not used by `spike`.",
    }),
  ),
  goal_id: t.Optional(t.Union([t.Integer({ minimum: 1 }), t.Null()], { description: "Id of the goal. Required for `goal` only." })),
  channels: t.Optional(
    t.Array(Channel, {
      maxItems: LIMITS.channels,
      description: "Where the alert is sent, in addition to the webhooks and chats that receive its event.",
    }),
  ),
  enabled: t.Optional(t.Boolean({ description: "Whether the alert is evaluated. Default: true." })),
}

const type = t.Union(
  ALERT_TYPES.map((each) => t.Literal(each)),
  {
    description:
      "`spike` (current visitors), `drop` (too few visitors in the window), `no_data` (no event in the window), `goal` (conversions in the window) or `not_found` (visits to missing pages in the window).",
  },
)

export const AlertInput = t.Object({ type, ...FIELDS }, { ...closed, title: "AlertInput" })
export const AlertPatch = t.Object(
  { ...FIELDS, version: t.Optional(t.Integer({ minimum: 1, description: "Version that the change is based on." })) },
  { ...closed, title: "AlertPatch" },
)

/** Goals and channels that an alert can refer to. */
export interface Nameable {
  goalIds: ReadonlySet<number>
  /** Addresses of the members of the site, as keys. */
  memberKeys: ReadonlySet<string>
  /** Ids of the chat connections that the site can use. */
  chatIds: ReadonlySet<number>
}

/** Parses the body of a new alert. Throws `validation_failed` with all faults. */
export function readNewAlert(body: unknown, nameable: Nameable): AlertFields {
  const { fields, faults } = inspect(AlertInput, body)
  const given = fields as Partial<AlertFields> // what is of another type has a fault
  const kind = given.type ?? "spike"
  const read = completed({ ...DEFAULTS[kind], ...given, type: kind })
  refuseFaults([...faults, ...(faults.length > 0 ? [] : faultsOf(read, nameable, []))])
  return read
}

/** Set by the server, and ignored so that the body of a GET can be sent back. */
const READ_ONLY = ["id", "type", "state", "last_fired_at", "fired_24h", "created_by", "created_at", "updated_at"]

/** Parses a patch of an alert. Fields that it does not name stay. The type of an alert is fixed. */
export function readAlertPatch(body: unknown, present: Alert, nameable: Nameable): { fields: AlertFields; version: number | undefined } {
  const given = isObject(body) ? Object.fromEntries(Object.entries(body).filter(([name]) => !READ_ONLY.includes(name))) : body
  const { fields, faults } = inspect(AlertPatch, given)
  const { version, ...changed } = fields as Partial<AlertFields> & { version?: number } // what is of another type has a fault
  const read = completed({ ...present, ...changed })
  refuseFaults([...faults, ...(faults.length > 0 ? [] : faultsOf(read, nameable, present.channels))])
  return { fields: read, version }
}

const completed = (fields: Pick<Alert, "type" | "threshold" | "window_minutes"> & Partial<AlertFields>): AlertFields => ({
  ...{ type: fields.type, threshold: fields.threshold, window_minutes: fields.window_minutes },
  ...{ factor: fields.factor ?? null, goal_id: fields.goal_id ?? null, channels: fields.channels ?? [], enabled: fields.enabled ?? true },
})

function faultsOf(
  { type, threshold, factor, window_minutes, goal_id, channels }: AlertFields,
  nameable: Nameable,
  kept: readonly AlertChannel[],
): Fault[] {
  const unused = (name: string) => fault(`/${name}`, "not_allowed", `is not used by alerts of the type ${type}`)
  const faults: Fault[] = []
  if (factor !== null && type !== "spike") faults.push(unused("factor"))
  if (threshold !== 1 && type === "no_data") faults.push(unused("threshold"))
  if (window_minutes !== null && type === "spike") faults.push(unused("window_minutes"))
  if (window_minutes === null && type !== "spike") faults.push(fault("/window_minutes", "required", "is required"))
  if (goal_id !== null && type !== "goal") faults.push(unused("goal_id"))
  if (type === "goal" && goal_id === null) faults.push(fault("/goal_id", "required", "is required"))
  if (type === "goal" && goal_id !== null && !nameable.goalIds.has(goal_id))
    faults.push(fault("/goal_id", "invalid_choice", "is not a goal of the site"))
  return [...faults, ...channelFaults(channels, nameable, kept)]
}

/** Channels that an alert has already are not tested again: a member who left does not make the alert immutable. */
function channelFaults(channels: readonly AlertChannel[], { memberKeys, chatIds }: Nameable, kept: readonly AlertChannel[]): Fault[] {
  const keys = channels.map(keyOf)
  const keptKeys = kept.map(keyOf)
  return channels.flatMap((channel, index) => {
    const pointer = `/channels/${index}`
    if (keys.indexOf(keys[index]!) < index) return [fault(pointer, "duplicate", "is named more than once")]
    if (keptKeys.includes(keys[index]!)) return []
    if (channel.type === "connection")
      return chatIds.has(channel.integration_id)
        ? []
        : [fault(`${pointer}/integration_id`, "invalid_choice", "is not a chat connection of the site")]
    if (!isEmail(channel.address) || !isClean(channel.address))
      return [fault(`${pointer}/address`, "invalid_email", "must be an email address")]
    return memberKeys.has(caseKey(channel.address))
      ? []
      : [fault(`${pointer}/address`, "invalid_choice", "is not the address of a member of the site")]
  })
}

const keyOf = (channel: AlertChannel): string =>
  channel.type === "email" ? `email ${caseKey(channel.address)}` : `connection ${channel.integration_id}`
