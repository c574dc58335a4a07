import { Type as t } from "@sinclair/typebox"
import { type Actor, actingUserId } from "../../domain/audit.ts"
import { AppError, refuseFaults } from "../../domain/error.ts"
import { fault, inspect, isObject } from "../../domain/shape.ts"
import { type Expected, refuseStaleBody } from "../../domain/version.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { listCatalogUsage } from "../../store/catalog/instance-lists.ts"
import { appliedMigrations } from "../../store/catalog/schema.ts"
import { type Audit, recorded } from "../audit/audit.ts"
import type { PluginState, Plugins } from "../runtime/plugins.ts"

/** An area with its tables, which exist even when the area is disabled. */
export interface Area extends PluginState {
  /** Names of its migrations. */
  schema: string[]
  /** Its tables in the catalog. */
  tables: string[]
  rows: number
}

/** The switches of areas. A disabled area keeps its data. */
export interface ConsoleAreas {
  list(): Promise<Area[]>
  features(): string[]
  /** Enables or disables an area. The body is `{id, enabled, version?}`. Throws `not_found`, `version_conflict`, `invalid_state` for the console. */
  turn(actor: Actor, body: unknown, expected?: Expected): Promise<Area>
  /** Applies several switches one after another. The body is `{changes: {id: enabled}}`. */
  turnAll(actor: Actor, body: unknown): Promise<string[]>
}

/** Input of a switch. The id is read separately, because the schema treats ids as set by the server. */
const SwitchInput = t.Object(
  {
    enabled: t.Boolean(),
    version: t.Optional(t.Integer({ minimum: 1 })),
    ...Object.fromEntries(["title", "schema", "tables", "rows"].map((name) => [name, t.Optional(t.Unknown())])),
  },
  { additionalProperties: false, title: "AreaSwitch" },
)
/** Id of the console, which cannot be disabled, because only the console could enable it again. */
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
      return (await list()).find((area) => area.id === id)! // it was changed just now
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
  const { enabled, version } = fields as { enabled: boolean; version?: number } // without faults they match the schema
  return { id: String(id), enabled, version }
}

const SwitchesInput = t.Object({ changes: t.Record(t.String(), t.Boolean()) }, { additionalProperties: false, title: "AreaSwitches" })

function parseSwitches(body: unknown, known: ReadonlySet<string>): [string, boolean][] {
  const { fields, faults } = inspect(SwitchesInput, body)
  const ids = isObject(body) && isObject(body.changes) ? Object.keys(body.changes) : []
  const unknown = ids.filter((id) => !known.has(id)).map((id) => fault(`/changes/${id.slice(0, 60)}`, "unknown_field", "does not exist"))
  refuseFaults([...faults, ...unknown])
  return Object.entries(fields.changes ?? {})
}
