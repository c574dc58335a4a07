import { refuseFaults } from "../domain/error.ts"
import { parseInstant } from "../domain/moment.ts"
import { normalPassword } from "../domain/password.ts"
import type { KeptFilter } from "../domain/segment.ts"
import { inDocumentOrder, inspect, isObject } from "../domain/shape.ts"
import { type ShareFields, ShareInput, shareFaults, USUAL_SECTIONS } from "../domain/share.ts"
import { readFilterList } from "../query/flat-filters.ts"
import type { SavedOf } from "./open-report.ts"

/** As ordinary a view as any: of a site that everybody may look at. */
export const PUBLIC_SHARE: ShareFields = {
  name: "Public",
  expires_at: null,
  locked_filters: [],
  sections: USUAL_SECTIONS,
  allow_range: true,
  allow_filters: true,
  allow_export: false,
  embed_origins: [],
}

/** The fields and the password of a body, or of a patch of what there is. A password that is not named is undefined. */
export function readShare(body: unknown, before: ShareFields | undefined, now: number, saved: ReturnType<SavedOf>) {
  const shape = before ? { ...ShareInput, required: [] } : ShareInput
  const { fields, faults } = inspect(shape, isObject(body) ? withoutServerSet(body) : body)
  const locked = isObject(body) && fields.locked_filters ? body.locked_filters : undefined
  const filters = locked === undefined ? [] : readFilterList(locked, "/locked_filters", saved).faults
  refuseFaults(inDocumentOrder([...faults, ...shareFaults(fields, now), ...filters], body))
  const { password, expires_at, locked_filters: _, ...others } = fields
  const base = before ?? PUBLIC_SHARE
  return {
    fields: {
      ...fieldsOf(base),
      ...others,
      ...(expires_at !== undefined && { expires_at: expires_at === null ? null : parseInstant(expires_at)! }), // judged above
      // Kept as they were sent, not tidied: they are compared with what events hold.
      ...(locked !== undefined && { locked_filters: locked as KeptFilter[] }),
    } satisfies ShareFields,
    password: typeof password === "string" ? normalPassword(password) : password,
  }
}

const fieldsOf = ({
  name,
  expires_at,
  locked_filters,
  sections,
  allow_range,
  allow_filters,
  allow_export,
  embed_origins,
}: ShareFields) => ({
  name,
  expires_at,
  locked_filters,
  sections,
  allow_range,
  allow_filters,
  allow_export,
  embed_origins,
})

/** Told by us beside what can be changed; sent back by who got it from us. */
function withoutServerSet({ slug: _, url: __, has_password: ___, is_public: ____, ...rest }: Record<string, unknown>) {
  return rest
}
