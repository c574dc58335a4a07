import { type Actor, AppError, type OwnStatements, type Site } from "#plugin"
import type { ImportsHost } from "../area.ts"
import { type ImportRow, updateImport } from "../rows.ts"
import type { DefinitionKind, Staged } from "./task.ts"

/** Something that an import created in addition to its rows. */
export interface CreatedObject {
  type: DefinitionType
  id: number
  /** Version at its creation. A later one was changed by a person. */
  version: number
}

export type DefinitionType = "goal" | "funnel" | "annotation" | "segment"

/** The kinds in the order of their creation: funnels and segments can refer to nothing that comes later. */
const TYPES: Readonly<Record<DefinitionKind, DefinitionType>> = {
  goals: "goal",
  funnels: "funnel",
  segments: "segment",
  annotations: "annotation",
}

interface Run {
  row: ImportRow
  site: Site
  actor: Actor
  staged: Staged
}

/**
 * Creates the goals and other definitions that an import is to create, and returns all that it has created. Those of an interrupted
 * attempt are not created again, because each is recorded in its transaction, and the site refuses a second one of the same content.
 */
export async function createDefinitions(host: ImportsHost, run: Run): Promise<CreatedObject[]> {
  const { create_goals = false } = JSON.parse(run.row.options_json) as { create_goals?: boolean } // validated with the import
  const created = JSON.parse(run.row.created_objects_json) as CreatedObject[] // written below
  const isResumed = created.length > 0
  const goals = create_goals ? run.staged.eventNames.map((value) => ({ kind: "event", value })) : []
  const wanted = { ...run.staged.definitions, goals: [...(run.staged.definitions.goals ?? []), ...goals] }
  for (const kind of Object.keys(TYPES) as DefinitionKind[]) {
    // Annotations have no rule by which a second one would be refused.
    if (kind === "annotations" && isResumed && created.some(({ type }) => type === "annotation")) continue
    for (const item of wanted[kind] ?? []) {
      const made = await create(host, run, kind, item, created)
      if (made) created.push(made)
    }
  }
  return created
}

/** Returns undefined if the site has such a definition, has no room for another one, or does not accept it. */
async function create(
  host: ImportsHost,
  { row, site, actor }: Run,
  kind: DefinitionKind,
  item: object,
  before: readonly CreatedObject[],
): Promise<CreatedObject | undefined> {
  const type = TYPES[kind]
  const alongside = async (statements: OwnStatements, { after }: { after?: Definition }) => {
    const { id, version, name, text } = after! // a creation
    const label = name ?? text ?? ""
    await updateImport(statements, row.id, { created_objects_json: JSON.stringify([...before, { type, id, version }]) })
    const place = { organizationId: site.organization_id, siteId: site.id }
    const changes = { label: [null, label] } as const
    await host.audit.write(statements, actor, { action: `imports.${type}.create`, target: { type, id, label }, ...place, changes })
  }
  try {
    const { id, version } = await definitionsOf(host, kind, row.created_by).create(site, item, alongside)
    return { type, id, version }
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** The members that all definitions have. Annotations have a text instead of a name. */
interface Definition {
  id: number
  version: number
  name?: string
  text?: string
}

interface Definitions {
  create(
    site: Site,
    body: unknown,
    alongside: (statements: OwnStatements, change: { after?: Definition }) => Promise<void>,
  ): Promise<Definition>
  get(site: Site, id: string): Promise<Definition>
  remove(site: Site, id: string): Promise<void>
}

const SITE_WIDE: ReadonlySet<string> = new Set(["segments:write", "annotations:write", "site:write"])

/** Segments and annotations of the site are created for the person who started the import. The command line is no one's. */
function definitionsOf({ services }: ImportsHost, kind: DefinitionKind, userId: number | null): Definitions {
  const viewer = { userId, permissions: SITE_WIDE }
  const all = {
    goals: services.goals,
    funnels: services.funnels,
    annotations: services.annotations.of(viewer),
    segments: services.segments.of(viewer),
  }
  return all[kind]
}

/** Removes what an import created, unless it was changed or is used since. Returns what is left. */
export async function removeDefinitions(host: ImportsHost, row: ImportRow, site: Site): Promise<CreatedObject[]> {
  const created = JSON.parse(row.created_objects_json) as CreatedObject[] // written at the completion
  const left: CreatedObject[] = []
  // In reverse, because later ones can use earlier ones.
  for (const thing of created.toReversed()) if (!(await removeUnchanged(host, row, site, thing))) left.unshift(thing)
  return left
}

async function removeUnchanged(host: ImportsHost, row: ImportRow, site: Site, { type, id, version }: CreatedObject): Promise<boolean> {
  const kind = (Object.keys(TYPES) as DefinitionKind[]).find((name) => TYPES[name] === type)! // the table is complete
  const definitions = definitionsOf(host, kind, row.created_by)
  try {
    if ((await definitions.get(site, String(id))).version !== version) return false
    await definitions.remove(site, String(id))
    return true
  } catch (error) {
    // It is gone, or something uses it.
    if (error instanceof AppError) return error.code.endsWith("_not_found")
    throw error
  }
}
