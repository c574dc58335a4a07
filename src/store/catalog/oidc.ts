import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

/** Links of a user that providers of organizations have made: those of the instance's own provider stay. */
export const deleteOrganizationIdentities = (catalog: Statements, userId: number): Promise<void> =>
  catalog.run(sql`
    delete from oidc_identities
    where user_id = ${userId} and provider in (select id from oidc_providers where organization_id is not null)`)
