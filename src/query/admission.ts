import { AppError } from "../domain/error.ts"
import { QUERY } from "../domain/limits.ts"

/** Where one asks for a place; `enter` is called when the place is there, at once or later. */
export interface Ticket {
  organizationId: number
  enter(): void
}

/**
 * Who may go on to the query workers: of each organization a few at a time, so that one with many questions does not keep
 * the others waiting; a few more may wait for that; the rest are refused.
 */
interface Admission {
  /** Throws `rate_limited` when too many of the organization wait already. */
  request(ticket: Ticket): void
  /** The ticket's question is over: the next of the organization goes on. */
  leave(ticket: Ticket): void
}

interface Organization {
  admitted: Set<Ticket>
  waiting: Ticket[]
}

export function createAdmission(): Admission {
  const organizations = new Map<number, Organization>()
  return {
    request(ticket) {
      const organization = organizations.get(ticket.organizationId) ?? { admitted: new Set(), waiting: [] }
      organizations.set(ticket.organizationId, organization)
      if (organization.admitted.size < QUERY.admittedPerOrganization) return admit(organization, ticket)
      if (organization.waiting.length >= QUERY.waitingPerOrganization) {
        throw new AppError("rate_limited", "Too many reports of this organization wait already", { retry_after: 1 })
      }
      organization.waiting.push(ticket)
    },
    leave(ticket) {
      const organization = organizations.get(ticket.organizationId)
      if (!organization) return
      organization.waiting = organization.waiting.filter((other) => other !== ticket)
      if (!organization.admitted.delete(ticket)) return
      const next = organization.waiting.shift()
      if (next) admit(organization, next)
      if (organization.admitted.size === 0) organizations.delete(ticket.organizationId)
    },
  }
}

function admit(organization: Organization, ticket: Ticket): void {
  organization.admitted.add(ticket)
  ticket.enter()
}
