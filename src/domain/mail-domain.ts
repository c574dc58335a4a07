import { Type as t } from "@sinclair/typebox"
import { AppError, refuseFaults } from "./error.ts"
import { parseHost } from "./host.ts"
import { fault, inDocumentOrder, inspect } from "./shape.ts"

/** A domain of e-mail addresses that an organization says is its own. Times are epoch milliseconds. */
export interface MailDomain {
  id: number
  organization_id: number
  domain: string
  /** What a TXT record of the domain must show. No secret: whoever asks the DNS sees it. */
  token: string
  verified_at: number | null
  created_at: number
}

/** The text of the record that proves a domain. */
export const proofOf = ({ token }: Pick<MailDomain, "token">): string => `footfall-verify=${token}`

export const DomainInput = t.Object(
  { domain: t.String({ minLength: 1, maxLength: 253 }) },
  { additionalProperties: false, title: "DomainInput" },
)

/** Lower case, in punycode. Throws `validation_failed`. */
export function parseDomain(body: unknown): { domain: string } {
  const { fields, faults } = inspect(DomainInput, body)
  const host = fields.domain === undefined ? undefined : parseHost(fields.domain)
  const isDomain = host?.includes(".") && !host.startsWith("*.") && !/^[0-9.]+$/.test(host)
  if (fields.domain !== undefined && !isDomain) faults.push(fault("/domain", "invalid_domain", "must be a domain such as example.org"))
  refuseFaults(inDocumentOrder(faults, body))
  return { domain: host! } // no fault: it is one
}

export const domainNotFound = () => new AppError("domain_not_found", "The organization has no domain with this id")
export const domainTaken = () => new AppError("domain_taken", "Another organization has proved that this domain is its own.")
export const domainNotVerified = () => new AppError("domain_not_verified", "The DNS shows no such TXT record of the domain.")
