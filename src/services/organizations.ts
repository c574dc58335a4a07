import type { Clock } from "../domain/clock.ts"
import { type Organization, parseOrganization } from "../domain/organization.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { insertOrganization, listOrganizations, organizationById } from "../store/catalog/organizations.ts"
import { inSlices } from "./slices.ts"

export interface Organizations {
  create(body: unknown): Promise<Organization>
  /** By id ascending. */
  list(): Promise<Organization[]>
  get(id: number): Promise<Organization | undefined>
}

export function createOrganizations({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): Organizations {
  return {
    async create(body) {
      return insertOrganization(catalog, { ...parseOrganization(body), now: clock.now() })
    },
    list: () => inSlices((slice) => listOrganizations(catalog, slice)),
    get: (id) => organizationById(catalog, id),
  }
}
