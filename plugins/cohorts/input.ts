import { type Static, Type as t } from "@sinclair/typebox"
import { type Fault, inspect, isObject, refuseFaults } from "#plugin"
import { type CohortFields, type Definition, LIMITS } from "./cohort.ts"
import { DefinitionInput, readDefinition } from "./definition.ts"
import { RestrictInput } from "./schemas.ts"

const closed = { additionalProperties: false } as const
const Name = t.String({ minLength: 1, maxLength: LIMITS.nameChars, description: "Name of the cohort, unique on the site." })
const Description = t.String({ maxLength: LIMITS.descriptionChars, description: "Description. Default: none." })
export const CohortInput = t.Object(
  { name: Name, description: t.Optional(Description), definition: DefinitionInput, restrict: t.Optional(RestrictInput) },
  { ...closed, title: "CohortInput" },
)
export const CohortPatch = t.Partial(
  t.Object(
    {
      name: Name,
      description: Description,
      definition: DefinitionInput,
      restrict: RestrictInput,
      version: t.Integer({ minimum: 1, description: "Version that the change is based on." }),
    },
    closed,
  ),
  { title: "CohortPatch" },
)
export const FreezeInput = t.Object({ name: Name }, { ...closed, title: "FreezeCohort" })

/** The fields without the definition, which has a reader of its own. */
const Shallow = t.Object({ ...CohortInput.properties, definition: t.Any() }, closed)
const ShallowPatch = t.Partial(t.Object({ ...CohortPatch.properties, definition: t.Any() }, closed))

/** Set by the server, and ignored so that the body of a GET can be sent back. */
const READ_ONLY = ["kind", "size", "pending", "coverage", "broken", "identity_min_days", "computed_at", "compute_ms", "created_by"]

const withoutReadOnly = (body: unknown): unknown =>
  isObject(body) ? Object.fromEntries(Object.entries(body).filter(([name]) => !READ_ONLY.includes(name))) : body

/** Parses the body of a new cohort. Throws `validation_failed` with all faults at once, or the faults of a definition. */
export function readNewCohort(body: unknown): CohortFields {
  const { fields, faults } = inspect(Shallow, withoutReadOnly(body))
  const definition = definitionIn(body, faults)
  refuseFaults(faults)
  const { name, description = "", restrict = null } = fields as Static<typeof Shallow> // complete, or rejected above
  return { name, description, restrict, definition: definition! }
}

export interface ReadPatch {
  fields: Partial<CohortFields>
  version: number | undefined
}

export function readCohortPatch(body: unknown): ReadPatch {
  const { fields, faults } = inspect(ShallowPatch, withoutReadOnly(body))
  const definition = definitionIn(body, faults)
  refuseFaults(faults)
  const { version, definition: _, ...others } = fields
  return { fields: { ...(others as Partial<CohortFields>), ...(definition && { definition }) }, version }
}

/** Reads the definition of a body, unless it is absent. Faults are added to `faults`. */
function definitionIn(body: unknown, faults: Fault[]): Definition | undefined {
  if (!isObject(body) || body.definition === undefined) return undefined
  return readDefinition(body.definition, "/definition", faults)
}

/** Parses the body of a request to freeze a cohort. */
export function readFreeze(body: unknown): { name: string } {
  const { fields, faults } = inspect(FreezeInput, body)
  refuseFaults(faults)
  return { name: fields.name! } // required, or rejected above
}
