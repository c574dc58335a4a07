import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, type Fault, refuseFaults } from "./error.ts"
import { THINGS } from "./limits.ts"
import { instantText, parseDay, parseInstant } from "./moment.ts"
import { CREATED_AT, field, Id, orNull, UPDATED_AT, versioned } from "./response.ts"
import { ScopeInput, type ThingScope } from "./segment.ts"
import { fault, inDocumentOrder, inspect, isObject, mergedWith } from "./shape.ts"
import type { Versioned } from "./version.ts"

/** The writable fields of an annotation: a note at a moment of a site's history. */
export const AnnotationInput = t.Object(
  {
    at: t.String({
      minLength: 1,
      description: "Day (YYYY-MM-DD, in the site's time zone) or RFC 3339 instant that the annotation belongs to.",
    }),
    text: t.String({ minLength: 1, maxLength: THINGS.annotationChars, description: "Text of the annotation." }),
  },
  { additionalProperties: false, title: "AnnotationInput" },
)

/** The fields of an annotation. `at` is a day or an instant in UTC. */
export type AnnotationFields = Static<typeof AnnotationInput>

/** The fields of an annotation with its scope: a personal annotation is visible to its owner only. */
export interface ScopedAnnotationFields extends AnnotationFields {
  scope: ThingScope
}

/** A stored annotation. Times are epoch milliseconds. */
export interface Annotation extends ScopedAnnotationFields, Versioned {
  id: number
  site_id: number
  /** Null when an API key created the annotation, or when its user was deleted. */
  owner_user_id: number | null
  created_at: number
  updated_at: number
}

export const AnnotationResponse = t.Object(
  {
    id: field.id("Id of the annotation."),
    site_id: field.id("Id of the site."),
    at: t.String({ description: "Day, or timestamp in UTC, as created." }),
    day: t.String({ format: "date", description: "Day in the time zone of the site." }),
    text: t.String({ description: "Text of the annotation." }),
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
  },
  { title: "Annotation" },
)
export type AnnotationResponse = Static<typeof AnnotationResponse>

/** An annotation in the private API. */
export const ScopedAnnotationResponse = versioned(
  t.Object(
    {
      ...AnnotationResponse.properties,
      scope: ScopeInput,
      owner: orNull(Id, { description: "Id of the user who created the annotation. null for an API key and a deleted user." }),
    },
    { title: "ScopedAnnotation" },
  ),
)
export type ScopedAnnotationResponse = Static<typeof ScopedAnnotationResponse>

/** Returns an annotation as the API shows it. */
export const formatAnnotation = (annotation: Annotation, { timezone }: { timezone: string }): AnnotationResponse => ({
  id: annotation.id,
  site_id: annotation.site_id,
  at: annotation.at,
  day: annotationDay(annotation, timezone),
  text: annotation.text,
  created_at: instantText(annotation.created_at),
  updated_at: instantText(annotation.updated_at),
})

/** Returns an annotation as the private API shows it; its routes add the version. */
export const formatScopedAnnotation = (annotation: Annotation, site: { timezone: string }): Omit<ScopedAnnotationResponse, "version"> => ({
  ...formatAnnotation(annotation, site),
  scope: annotation.scope,
  owner: annotation.owner_user_id,
})

export const annotationNotFound = () => new AppError("annotation_not_found", "This site has no annotation with this id.")

/** Reads an annotation from a request body. Throws `validation_failed` with all faults at once. */
export function parseAnnotation(body: unknown): AnnotationFields {
  const { fields, faults } = inspect(AnnotationInput, withoutDay(body))
  const at = fields.at === undefined ? undefined : readMoment(fields.at)
  const meaning = fields.at !== undefined && at === undefined ? [fault("/at", "invalid_date", "must be a day or an RFC 3339 instant")] : []
  refuseFaults(inDocumentOrder([...faults, ...meaning], body))
  return { at: at!, text: fields.text! } // present, because no fault was found
}

/** Applies a merge patch to an annotation and validates the result like a new one. */
export const patchAnnotation = ({ at, text }: AnnotationFields, patch: unknown): AnnotationFields =>
  parseAnnotation(mergedWith({ at, text }, patch))

const ScopedInput = t.Object({ ...AnnotationInput.properties, scope: t.Optional(ScopeInput) }, { additionalProperties: false })

/** Reads an annotation with its scope, which is `site` by default. Throws `validation_failed` with all faults at once. */
export function parseScopedAnnotation(body: unknown): ScopedAnnotationFields {
  if (!isObject(body)) return { ...parseAnnotation(body), scope: "site" }
  const { scope: sent, owner: _, ...rest } = body
  const { fields, faults } = inspect(ScopedInput, { ...rest, ...(sent !== undefined && { scope: sent }) })
  const wrong = faults.filter(({ pointer }) => pointer === "/scope")
  // `inspect` returned neither the scope nor a fault for it: the body has more faults than are counted.
  if (sent !== undefined && fields.scope === undefined && wrong.length === 0) refuseFaults(faults)
  if (wrong.length === 0) return { ...parseAnnotation(rest), scope: fields.scope ?? "site" }
  refuseFaults(inDocumentOrder([...wrong, ...faultsOf(() => parseAnnotation(rest))], body))
  throw new Error("refuseFaults accepted a list with a fault")
}

function faultsOf(parse: () => unknown): readonly Fault[] {
  try {
    parse()
    return []
  } catch (thrown) {
    return thrown instanceof AppError ? (thrown.members.errors ?? []) : []
  }
}

/** Applies a merge patch to an annotation and its scope, and validates the result like a new one. */
export const patchScopedAnnotation = ({ at, text, scope }: ScopedAnnotationFields, patch: unknown): ScopedAnnotationFields =>
  parseScopedAnnotation(mergedWith({ at, text, scope }, patch))

/** Returns the day of an annotation in the time zone, as `YYYY-MM-DD`. */
export function annotationDay({ at }: AnnotationFields, timezone: string): string {
  if (!at.includes("T")) return at
  return Temporal.Instant.from(at).toZonedDateTimeISO(timezone).toPlainDate().toString()
}

/** Removes `day`, which responses compute from `at`: clients may send back what they received. */
function withoutDay(body: unknown): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body
  const { day: _, ...rest } = body as Record<string, unknown>
  return rest
}

function readMoment(text: string): string | undefined {
  const at = parseInstant(text)
  return at === undefined ? parseDay(text)?.toString() : instantText(at)
}
