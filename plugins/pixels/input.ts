import { type Static, Type as t } from "@sinclair/typebox"
import { type Fault, fault, inspect, isObject, refuseFaults } from "#plugin"
import { KINDS, LIMITS, type PixelFields, RECIPIENT_MODES } from "./pixel.ts"

/** Returns the schema of a closed list, with the literal type that TypeBox cannot infer from an array. */
export const oneOf = <Name extends string>(names: readonly Name[], description: string) =>
  t.Unsafe<Name>(
    t.Union(
      names.map((name) => t.Literal(name)),
      { description },
    ),
  )

const FIELDS = {
  name: t.String({ minLength: 1, maxLength: LIMITS.nameChars, description: "Display name." }),
  kind: oneOf(KINDS, "Place of the pixel, which determines the snippet: `email`, `rss`, `readme` or `page`."),
  slug: t.Optional(t.String({ description: "1 to 64 letters, digits, hyphens and underscores. Default: a random slug." })),
  allowed_params: t.Optional(
    t.Array(t.String({ pattern: "^[A-Za-z0-9_-]{1,40}$" }), {
      maxItems: LIMITS.params,
      uniqueItems: true,
      description: "Names of the query parameters whose values are stored. Default: none.",
    }),
  ),
  recipient_mode: t.Optional(
    oneOf(RECIPIENT_MODES, "`hashed` stores a keyed hash of the parameter `r`, `none` ignores it. Default: `none`."),
  ),
  badge_public: t.Optional(t.Boolean({ description: "Whether the badge shows the number of opens. Default: false." })),
  force: t.Optional(
    t.Boolean({ description: "Take a slug that is reserved for a deleted item of the same organization. Default: false." }),
  ),
}
const closed = { additionalProperties: false } as const

export const PixelInput = t.Object(FIELDS, { ...closed, title: "Pixel" })
export const PixelPatch = t.Partial(
  t.Object(
    {
      ...FIELDS,
      archived: t.Boolean({ description: "Whether the pixel is archived." }),
      version: t.Integer({ minimum: 1, description: "Version that the change is based on." }),
    },
    closed,
  ),
  { title: "PixelPatch" },
)

/** Set by the server, and ignored so that the body of a GET can be sent back. */
const READ_ONLY = ["url", "archived_at", "opens_total", "opens_direct", "last_open_at", "created_by", "recent"]

/** A parsed body. Fields that it does not contain are missing. */
export interface ReadPixel {
  fields: Partial<PixelFields>
  force: boolean
  archived: boolean | undefined
  version: number | undefined
}

/** Parses the body of a new pixel. Throws `validation_failed` with all faults at once. The slug is checked when it is claimed. */
export function readNewPixel(body: unknown): ReadPixel & { fields: Pick<PixelFields, "name" | "kind"> } {
  const { fields, faults } = inspect(PixelInput, body)
  refuseFaults([...faults, ...paramFaults(fields)])
  const { force = false, ...others } = fields as Static<typeof PixelInput> // complete, or rejected above
  return { fields: others as PixelFields, force, archived: undefined, version: undefined }
}

export function readPatch(body: unknown): ReadPixel {
  const { fields, faults } = inspect(PixelPatch, withoutReadOnly(body))
  refuseFaults([...faults, ...paramFaults(fields)])
  const { force = false, archived, version, ...others } = fields
  return { fields: others as Partial<PixelFields>, force, archived, version }
}

const withoutReadOnly = (body: unknown): unknown =>
  isObject(body) ? Object.fromEntries(Object.entries(body).filter(([name]) => !READ_ONLY.includes(name))) : body

/** Rejects the parameter of the recipient, which is only stored as a hash. */
function paramFaults({ allowed_params = [] }: { allowed_params?: readonly string[] }): Fault[] {
  return allowed_params.flatMap((name, place) =>
    name === "r"
      ? [fault(`/allowed_params/${place}`, "invalid_choice", "is reserved for the recipient, who is stored as a hash only")]
      : [],
  )
}
