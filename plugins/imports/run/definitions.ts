import { type Actor, AppError, type Site } from "#plugin"
import type { ImportsHost } from "../area.ts"
import type { ImportRow } from "../rows.ts"
import { updateImport } from "../rows.ts"
import type { Staged } from "./task.ts"

/** Something that an import created besides its rows. */
export interface CreatedObject {
  type: "goal"
  id: number
  /** Version at its creation: a later one was changed by a person. */
  version: number
}

/**
 * Creates the goals that an import is to create, and returns all that it has created. Those of an interrupted attempt are not created
 * again, because each is recorded in its transaction.
 */
export async function createDefinitions(
  host: ImportsHost,
  { row, site, actor, staged }: { row: ImportRow; site: Site; actor: Actor; staged: Staged },
): Promise<CreatedObject[]> {
  const { create_goals = false } = JSON.parse(row.options_json) as { create_goals?: boolean } // validated with the import
  const created = JSON.parse(row.created_objects_json) as CreatedObject[] // written below
  if (!create_goals) return created
  for (const value of staged.eventNames) {
    const goal = await createGoal(host, { row, site, actor, value }, created)
    if (goal) created.push(goal)
  }
  return created
}

interface Wanted {
  row: ImportRow
  site: Site
  actor: Actor
  value: string
}

/** Returns undefined if the site has such a goal, or no room for another one. */
async function createGoal(
  { services, audit }: ImportsHost,
  { row, site, actor, value }: Wanted,
  before: readonly CreatedObject[],
): Promise<CreatedObject | undefined> {
  try {
    const goal = await services.goals.create(site, { kind: "event", value }, async (statements, { after }) => {
      const made = after! // a creation
      const all = [...before, { type: "goal", id: made.id, version: made.version }]
      await updateImport(statements, row.id, { created_objects_json: JSON.stringify(all) })
      const target = { type: "goal", id: made.id, label: made.name }
      const place = { organizationId: site.organization_id, siteId: site.id }
      await audit.write(statements, actor, { action: "imports.goal.create", target, ...place, changes: { value: [null, value] } })
    })
    return { type: "goal", id: goal.id, version: goal.version }
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
