import { type Actor, AppError, type AuditEntry, type OwnStatements, type Site } from "#plugin"
import type { ImportsHost } from "../area.ts"
import { type ImportRow, importById, updateImport } from "../rows.ts"
import type { DefinitionKind, Staged } from "./task.ts"

/** Something that an import created in addition to its rows. */
export interface CreatedObject {
  type: DefinitionType
  id: number
  /** Version at its creation. A later one was changed by a person. */
  version: number
  /** Position among the definitions that the import is to create. An interrupted run leaves out those that it has created. */
  place: number
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
 * Creates the goals and other definitions that an import is to create. Each is recorded in the import in the transaction that creates it,
 * so that an interrupted run continues after it, and a failed or cancelled one removes it.
 */
export async function createDefinitions(host: ImportsHost, run: Run): Promise<void> {
  const created = createdBy(run.row)
  const places = new Set(created.map(({ place }) => place))
  for (const [place, { kind, item }] of wantedDefinitions(run).entries()) {
    if (places.has(place)) continue
    const made = await create(host, run, { kind, item, place }, created)
    if (made) created.push(made)
  }
}

const createdBy = ({ created_objects_json }: Pick<ImportRow, "created_objects_json">): CreatedObject[] =>
  JSON.parse(created_objects_json) as CreatedObject[] // written below

interface WantedDefinition {
  kind: DefinitionKind
  item: object
}

/** Returns the definitions in the order of their creation, which is the same whenever the run is repeated. */
function wantedDefinitions({ row, staged }: Run): WantedDefinition[] {
  const { create_goals = false } = JSON.parse(row.options_json) as { create_goals?: boolean } // validated with the import
  const goals = create_goals ? staged.eventNames.map((value) => ({ kind: "event", value })) : []
  const items = { ...staged.definitions, goals: [...(staged.definitions.goals ?? []), ...goals] }
  return (Object.keys(TYPES) as DefinitionKind[]).flatMap((kind) => (items[kind] ?? []).map((item) => ({ kind, item })))
}

/** Returns undefined if the site has such a definition, has no room for another one, or does not accept it. */
async function create(
  host: ImportsHost,
  { row, site, actor }: Run,
  { kind, item, place }: WantedDefinition & { place: number },
  before: readonly CreatedObject[],
): Promise<CreatedObject | undefined> {
  const type = TYPES[kind]
  const alongside = async (statements: OwnStatements, { after }: { after?: Definition }) => {
    const { id, version } = after! // a creation
    const created: CreatedObject[] = [...before, { type, id, version, place }]
    const recorded = await updateImport(statements, row.id, { created_objects_json: JSON.stringify(created) }, ["running"])
    if (!recorded) throw new Error("The import is no longer running.")
    await host.audit.write(statements, actor, auditEntryOf("create", type, site, after!))
  }
  try {
    const { id, version } = await definitionsOf(host, kind, row.created_by).create(site, item, alongside)
    return { type, id, version, place }
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

function auditEntryOf(verb: "create" | "delete", type: DefinitionType, site: Site, { id, name, text }: Definition): AuditEntry {
  const label = name ?? text ?? ""
  return {
    action: `imports.${type}.${verb}`,
    target: { type, id, label },
    organizationId: site.organization_id,
    siteId: site.id,
    changes: { label: verb === "create" ? [null, label] : [label, null] },
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
  remove(
    site: Site,
    id: string,
    terms: { expected: readonly number[]; alongside(statements: OwnStatements, change: { before?: Definition }): Promise<void> },
  ): Promise<void>
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

/** Removes what an import created, unless it was changed or is used since. The import lists what is left. */
export async function removeDefinitions(host: ImportsHost, importId: number, site: Site, actor: Actor): Promise<void> {
  const row = await importById(host.db, importId)
  if (!row) return
  const created = createdBy(row)
  let left = created
  // In reverse, because later ones can use earlier ones.
  for (const thing of created.toReversed()) {
    const others = left.filter((other) => other !== thing)
    if (await removeUnchanged(host, { row, site, actor }, thing, others)) left = others
  }
  if (left.length < created.length) await recordLeft(host.db, row, left)
}

const recordLeft = (statements: OwnStatements, { id }: ImportRow, left: readonly CreatedObject[]) =>
  updateImport(statements, id, { created_objects_json: JSON.stringify(left) })

/** Returns whether the definition is gone. It is removed in the transaction that records the others as what is left. */
async function removeUnchanged(
  host: ImportsHost,
  { row, site, actor }: Omit<Run, "staged">,
  { type, id, version }: CreatedObject,
  others: readonly CreatedObject[],
): Promise<boolean> {
  const kind = (Object.keys(TYPES) as DefinitionKind[]).find((name) => TYPES[name] === type)! // the table is complete
  const alongside = async (statements: OwnStatements, { before }: { before?: Definition }) => {
    await recordLeft(statements, row, others)
    await host.audit.write(statements, actor, auditEntryOf("delete", type, site, before!)) // a deletion
  }
  try {
    await definitionsOf(host, kind, row.created_by).remove(site, String(id), { expected: [version], alongside })
    return true
  } catch (error) {
    // It is gone, was changed, or something uses it.
    if (error instanceof AppError) return error.code.endsWith("_not_found")
    throw error
  }
}
