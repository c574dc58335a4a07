import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, refuseFaults } from "./error.ts"
import { parseHost } from "./host.ts"
import { CREATED_AT, field, Instant, orNull, txtRecord } from "./response.ts"
import { fault, inDocumentOrder, inspect } from "./shape.ts"

/** An email domain that an organization claims as its own. Times are epoch milliseconds. */
export interface MailDomain {
  id: number
  organization_id: number
  domain: string
  /** Value that a TXT record of the domain must contain. Not secret: anyone can read it in the DNS. */
  token: string
  verified_at: number | null
  created_at: number
}

/** Returns the content of the TXT record that proves a domain. */
export const proofOf = ({ token }: Pick<MailDomain, "token">): string => `footfall-verify=${token}`

export const DomainInput = t.Object(
  { domain: t.String({ minLength: 1, maxLength: 253, description: "Email domain, such as example.org." }) },
  { additionalProperties: false, title: "DomainInput" },
)

export const DomainResponse = t.Object(
  {
    id: field.id("Id of the email domain."),
    domain: t.String({ description: "Email domain." }),
    record: txtRecord("DNS record that verifies the domain."),
    verified_at: orNull(Instant, { description: "Time at which the record was found. null until then." }),
    created_at: CREATED_AT,
  },
  { title: "MailDomain" },
)
export type DomainResponse = Static<typeof DomainResponse>

/** Reads a domain from a request body. Returns it in lower case and punycode. Throws `validation_failed`. */
export function parseDomain(body: unknown): { domain: string } {
  const { fields, faults } = inspect(DomainInput, body)
  const host = fields.domain === undefined ? undefined : parseHost(fields.domain)
  const isDomain = host?.includes(".") && !host.startsWith("*.") && !/^[0-9.]+$/.test(host)
  if (fields.domain !== undefined && !isDomain) faults.push(fault("/domain", "invalid_domain", "must be a domain such as example.org"))
  refuseFaults(inDocumentOrder(faults, body))
  return { domain: host! } // valid, because no fault was found
}

export const domainNotFound = () => new AppError("domain_not_found", "This organization has no domain with this id.")
export const domainTaken = () => new AppError("domain_taken", "Another organization has already verified this domain.")
export const domainNotVerified = () =>
  new AppError(
    "domain_not_verified",
    "The TXT record was not found in the DNS of this domain. Changes in the DNS can take a while; try again later.",
  )
