import { Type as t } from "@sinclair/typebox"
import { refuseFaults } from "./error.ts"
import { THINGS } from "./limits.ts"
import { inspect } from "./shape.ts"

/** The owner of sites, members and API keys. Times are epoch milliseconds. */
export interface Organization {
  id: number
  name: string
  created_at: number
  updated_at: number
}

/** A member's rank in an organization. */
export type Role = "owner" | "admin" | "editor" | "viewer" | "guest"

const OrganizationInput = t.Object({ name: t.String({ minLength: 1, maxLength: THINGS.siteNameChars }) }, { additionalProperties: false })

/** Throws `validation_failed`. */
export function parseOrganization(body: unknown): { name: string } {
  const { fields, faults } = inspect(OrganizationInput, body)
  refuseFaults(faults)
  return { name: fields.name! } // no fault: it is there
}
