import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, refuseFaults } from "./error.ts"
import { THINGS } from "./limits.ts"
import { instantText, parseDay, parseInstant } from "./moment.ts"
import { fault, inDocumentOrder, inspect, mergedWith } from "./shape.ts"
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

/** Times are epoch milliseconds. */
export interface Annotation extends AnnotationFields, Versioned {
  id: number
  site_id: number
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
