import { Type as t } from "@sinclair/typebox"
import { field, orNull, type ProductEventForm, type Site } from "#plugin"
import type { ImportRow } from "./rows.ts"

const payload = t.Object(
  {
    import_id: field.id("Id of the import."),
    source: field.text("Product or format that the import comes from."),
    label: field.text("Label of the import."),
    state: field.text("State of the import."),
    date_start: orNull(t.String(), { description: "First day of the imported data. null if no row was read." }),
    date_end: orNull(t.String(), { description: "Last day of the imported data. null if no row was read." }),
    error: t.Optional(field.text("Code of the failure. Absent without one.")),
  },
  { additionalProperties: false },
)

/** The product events of imports. */
export const EVENTS = {
  "import.completed": { title: "Import completed", payload },
  "import.failed": { title: "Import failed", payload },
  "import.undone": { title: "Import undone", payload },
} as const satisfies Record<string, ProductEventForm>

/** Returns the product event of an import. It contains no row of the imported data. */
export function eventOf(event: keyof typeof EVENTS, site: Site, { id, source, label, state, date_start, date_end, error_code }: ImportRow) {
  const payload = { import_id: id, source, label, state, date_start, date_end, ...(error_code !== null && { error: error_code }) }
  return { event, organizationId: site.organization_id, siteId: site.id, payload }
}
