import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, type Fault, refuseFaults } from "./error.ts"
import { THINGS } from "./limits.ts"
import { instantText, parseDay, parseInstant } from "./moment.ts"
import { ScopeInput, type ThingScope } from "./segment.ts"
import { fault, inDocumentOrder, inspect, isObject, mergedWith } from "./shape.ts"
import type { Versioned } from "./version.ts"

/** What a caller may send of an annotation: a note at a moment of a site's history. */
export const AnnotationInput = t.Object(
  {
    at: t.String({ minLength: 1, description: "A day, YYYY-MM-DD in the site's zone, or an RFC 3339 instant" }),
    text: t.String({ minLength: 1, maxLength: THINGS.annotationChars }),
  },
  { additionalProperties: false, title: "AnnotationInput" },
)

/** `at` is a day or an instant in UTC. */
export type AnnotationFields = Static<typeof AnnotationInput>

/** With whose it is: a person may keep notes that nobody else sees. */
export interface ScopedAnnotationFields extends AnnotationFields {
  scope: ThingScope
}

/** Times are epoch milliseconds. */
export interface Annotation extends ScopedAnnotationFields, Versioned {
  id: number
  site_id: number
  /** Null: made by a key, or by a user who is gone. */
  owner_user_id: number | null
  created_at: number
  updated_at: number
}

export const annotationNotFound = () => new AppError("annotation_not_found", "The site has no annotation with this id")

/** Throws `validation_failed` with all faults at once. */
export function parseAnnotation(body: unknown): AnnotationFields {
  const { fields, faults } = inspect(AnnotationInput, withoutDay(body))
  const at = fields.at === undefined ? undefined : readMoment(fields.at)
  const meaning = fields.at !== undefined && at === undefined ? [fault("/at", "invalid_date", "must be a day or an RFC 3339 instant")] : []
  refuseFaults(inDocumentOrder([...faults, ...meaning], body))
  return { at: at!, text: fields.text! } // no fault: both are there
}

/** The annotation with a merge patch applied, by the same rules as a new one. */
export const patchAnnotation = ({ at, text }: AnnotationFields, patch: unknown): AnnotationFields =>
  parseAnnotation(mergedWith({ at, text }, patch))

const ScopedInput = t.Object({ ...AnnotationInput.properties, scope: t.Optional(ScopeInput) }, { additionalProperties: false })

/** The same with its scope; that of the site unless another one is named. */
export function parseScopedAnnotation(body: unknown): ScopedAnnotationFields {
  if (!isObject(body)) return { ...parseAnnotation(body), scope: "site" }
  const { scope: sent, owner: _, ...rest } = body
  const { fields, faults } = inspect(ScopedInput, { ...rest, ...(sent !== undefined && { scope: sent }) })
  const wrong = faults.filter(({ pointer }) => pointer === "/scope")
  // With no fault of its own it was not looked at, for the body has too many.
  if (sent !== undefined && fields.scope === undefined && wrong.length === 0) refuseFaults(faults)
  if (wrong.length === 0) return { ...parseAnnotation(rest), scope: fields.scope ?? "site" }
  refuseFaults(inDocumentOrder([...wrong, ...faultsOf(() => parseAnnotation(rest))], body))
  throw new Error("A fault was not refused")
}

function faultsOf(parse: () => unknown): readonly Fault[] {
  try {
    parse()
    return []
  } catch (thrown) {
    return thrown instanceof AppError ? (thrown.members.errors ?? []) : []
  }
}

export const patchScopedAnnotation = ({ at, text, scope }: ScopedAnnotationFields, patch: unknown): ScopedAnnotationFields =>
  parseScopedAnnotation(mergedWith({ at, text, scope }, patch))

/** The local day of an annotation, `YYYY-MM-DD`. */
export function annotationDay({ at }: AnnotationFields, timezone: string): string {
  if (!at.includes("T")) return at
  return Temporal.Instant.from(at).toZonedDateTimeISO(timezone).toPlainDate().toString()
}

/** Computed from `at`; sent back by who got it from us. */
function withoutDay(body: unknown): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body
  const { day: _, ...rest } = body as Record<string, unknown>
  return rest
}

function readMoment(text: string): string | undefined {
  const at = parseInstant(text)
  return at === undefined ? parseDay(text)?.toString() : instantText(at)
}
