import { Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { type Actor, actingUserId } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError, refuseFaults } from "../../domain/error.ts"
import { instantText, parseInstant } from "../../domain/moment.ts"
import { fault, inDocumentOrder, inspect } from "../../domain/shape.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { putSetting, settingByKey } from "../../store/catalog/settings.ts"
import type { Audit } from "../audit/audit.ts"
import type { Reload } from "../changes/changes.ts"

/** Maintenance mode. Reads and event collection continue, and other writes are refused. */
export interface Maintenance {
  enabled: boolean
  message?: string
  /** End of maintenance in epoch milliseconds. */
  until?: number
}

/** Throws the error for a write during maintenance. `code` depends on the API. */
export function refuseWrites({ enabled, message, until }: Maintenance, code: "maintenance" | "unavailable", now: number): void {
  if (!enabled) return
  const wait = until === undefined ? 60 : Math.max(1, Math.ceil((until - now) / 1_000))
  throw new AppError(code, message ?? "The instance is in maintenance mode.", { retry_after: wait })
}

/** The maintenance switch, which persists across restarts. */
export interface MaintenanceMode {
  current(): Maintenance
  /** Returns the mode in the form of responses. */
  shown(): ShownMode
  /** Changes the mode. The body has `enabled` and optionally `message` and `until`. Throws `validation_failed`. */
  change(actor: Actor, body: unknown): Promise<ShownMode>
  /** Reads the mode again, after another node changed it. */
  reload: Reload
}

export interface ShownMode {
  enabled: boolean
  message: string | null
  /** RFC 3339. */
  until: string | null
}

const MaintenanceInput = t.Object(
  {
    enabled: t.Boolean(),
    message: t.Optional(t.String({ minLength: 1, maxLength: 500 })),
    until: t.Optional(
      t.String({ minLength: 20, maxLength: 40, description: "End of maintenance in RFC 3339. Default: until it is switched off." }),
    ),
  },
  { additionalProperties: false, title: "MaintenanceInput" },
)

const KEY = "maintenance"
const Stored = t.Object({ enabled: t.Boolean(), message: t.Optional(t.String()), until: t.Optional(t.Integer()) })

interface MaintenanceOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Pick<Audit, "write">
}

export async function createMaintenance({ catalog, clock, audit }: MaintenanceOptions): Promise<MaintenanceMode> {
  const read = async (statements: Statements): Promise<Maintenance> => {
    const stored = await settingByKey(statements, KEY)
    return Value.Check(Stored, stored) ? stored : { enabled: false }
  }
  let mode = await read(catalog)
  const current = (): Maintenance =>
    mode.enabled && mode.until !== undefined && mode.until <= clock.now() ? { enabled: false } : { ...mode }

  return {
    current,
    async reload(statements, keys) {
      if (keys.includes(KEY)) mode = await read(statements)
    },
    shown: () => shownMode(current()),
    async change(actor, body) {
      const wanted = parseMaintenance(body, clock.now())
      await catalog.transaction(
        async (statements) => {
          const before = shownMode(current())
          const updated_by = actingUserId(actor)
          await putSetting(statements, { key: KEY, value: wanted, updated_by, updated_at: clock.now() })
          await audit.write(statements, actor, {
            action: "admin.maintenance.change",
            target: { type: "instance", id: "instance", label: "" },
            changes: { maintenance: [before, shownMode(wanted)] },
          })
          return wanted
        },
        (changed) => {
          mode = changed
        },
      )
      return shownMode(wanted)
    },
  }
}

const shownMode = ({ enabled, message, until }: Maintenance): ShownMode => ({
  enabled,
  message: message ?? null,
  until: until === undefined ? null : instantText(until),
})

function parseMaintenance(body: unknown, now: number): Maintenance {
  const { fields, faults } = inspect(MaintenanceInput, body)
  const { enabled, message } = fields
  const until = fields.until === undefined ? undefined : parseInstant(fields.until)
  const wrong = fields.until !== undefined && (until === undefined || until <= now)
  refuseFaults(
    inDocumentOrder([...faults, ...(wrong ? [fault("/until", "out_of_range", "must be a time in the future, in RFC 3339")] : [])], body),
  )
  if (!enabled) return { enabled: false }
  return { enabled: true, ...(message !== undefined && { message }), ...(until !== undefined && { until }) }
}
