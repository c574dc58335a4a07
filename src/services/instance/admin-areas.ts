import { Type as t } from "@sinclair/typebox"
import { type Actor, actingUserId } from "../../domain/audit.ts"
import { AppError, refuseFaults } from "../../domain/error.ts"
import { fault, inspect, isObject } from "../../domain/shape.ts"
import { type Expected, refuseStaleBody } from "../../domain/version.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { appliedMigrations } from "../../store/catalog/migrate.ts"
import { listCatalogUsage } from "../../store/catalog/usage.ts"
import { type Audit, recorded } from "../audit/audit.ts"
import type { PluginState, Plugins } from "../runtime/plugins.ts"

/** An area, and what it keeps whether it is on or off. */
export interface Area extends PluginState {
  /** Names of its migrations. */
  schema: string[]
  /** Of the catalog. */
  tables: string[]
  rows: number
}

/** Switches of areas. What is off keeps its data. */
export interface ConsoleAreas {
  list(): Promise<Area[]>
  features(): string[]
  /** `{id, enabled, version?}`. Throws `not_found`, `version_conflict`, `invalid_state` for the console itself. */
  turn(actor: Actor, body: unknown, expected?: Expected): Promise<Area>
  /** `{changes: {id: enabled}}`, one after the other. */
  turnAll(actor: Actor, body: unknown): Promise<string[]>
}

/** Its id is read apart: elsewhere ids come from the server. */
const SwitchInput = t.Object(
  {
    enabled: t.Boolean(),
    version: t.Optional(t.Integer({ minimum: 1 })),
    ...Object.fromEntries(["title", "schema", "tables", "rows"].map((name) => [name, t.Optional(t.Unknown())])),
  },
  { additionalProperties: false, title: "AreaSwitch" },
)
/** Whoever turned it off could not turn it on again. */
const CONSOLE = "admin"

export function createAreas({
  catalog,
  plugins,
  audit,
}: {
  catalog: Catalog
  plugins: Plugins
  audit: Pick<Audit, "write">
}): ConsoleAreas {
  async function list(): Promise<Area[]> {
    const applied = await appliedMigrations(catalog)
    const usage = await listCatalogUsage(catalog, { withBytes: false })
    return plugins.list().map((state) => {
      const tables = usage.filter(({ table }) => table.startsWith(`${state.id}_`))
      return {
        ...state,
        schema: applied.filter(({ owner }) => owner === state.id).map(({ name }) => name),
        tables: tables.map(({ table }) => table),
        rows: tables.reduce((sum, { rows }) => sum + rows, 0),
      }
    })
  }
  async function turn(actor: Actor, id: string, enabled: boolean, expected?: Expected): Promise<void> {
    if (id === CONSOLE && !enabled) throw new AppError("invalid_state", "The console cannot switch itself off.", { state: "enabled" })
    const by = actingUserId(actor)
    const describe = ({ title }: PluginState) => ({ action: "admin.plugin.update", target: { type: "plugin", id, label: title } })
    await plugins.turn(id, enabled, by, { ...(expected && { expected }), alongside: recorded(audit, actor, describe) })
  }

  return {
    list,
    features: plugins.features,
    async turn(actor, body, expected) {
      const { id, enabled, version } = parseSwitch(body)
      const state = plugins.list().find((each) => each.id === id)
      if (state) refuseStaleBody(state, version, (present) => present)
      await turn(actor, id, enabled, expected)
      return (await list()).find((area) => area.id === id)! // it was just turned
    },
    async turnAll(actor, body) {
      for (const [id, enabled] of parseSwitches(body, new Set(plugins.list().map((state) => state.id)))) await turn(actor, id, enabled)
      return plugins.features()
    },
  }
}

function parseSwitch(body: unknown): { id: string; enabled: boolean; version: number | undefined } {
  const { fields, faults } = inspect(SwitchInput, body)
  const id = isObject(body) ? body.id : undefined
  if (isObject(body) && typeof id !== "string")
    faults.push(id === undefined ? fault("/id", "required", "is required") : fault("/id", "invalid_type", "must be text"))
  refuseFaults(faults)
  const { enabled, version } = fields as { enabled: boolean; version?: number } // no fault: they fit the schema
  return { id: String(id), enabled, version }
}

const SwitchesInput = t.Object({ changes: t.Record(t.String(), t.Boolean()) }, { additionalProperties: false, title: "AreaSwitches" })

function parseSwitches(body: unknown, known: ReadonlySet<string>): [string, boolean][] {
  const { fields, faults } = inspect(SwitchesInput, body)
  const named = isObject(body) && isObject(body.changes) ? Object.keys(body.changes) : []
  const strange = named.filter((id) => !known.has(id)).map((id) => fault(`/changes/${id.slice(0, 60)}`, "unknown_field", "does not exist"))
  refuseFaults([...faults, ...strange])
  return Object.entries(fields.changes ?? {})
}
