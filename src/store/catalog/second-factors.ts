import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

/** What a user has beside the password. */
export interface Factors {
  totp: boolean
  passkeys: number
  recovery_codes_left: number
}

export async function factorsOf(catalog: Statements, userId: number): Promise<Factors> {
  const row = await catalog.get<{ totp: 0 | 1; passkeys: number; codes: number }>(sql`
    select
      (select totp_sealed is not null from users where id = ${userId}) as totp,
      (select count(*) from passkeys where user_id = ${userId}) as passkeys,
      (select count(*) from recovery_codes where user_id = ${userId} and used_at is null) as codes`)
  return { totp: row?.totp === 1, passkeys: row?.passkeys ?? 0, recovery_codes_left: row?.codes ?? 0 }
}

/** Whether an organization of the user asks its members for a second factor. */
export const isFactorWanted = async (catalog: Statements, userId: number): Promise<boolean> =>
  (await catalog.get(sql`
    select 1 from memberships join organizations on organizations.id = memberships.organization_id
    where user_id = ${userId} and deleted_at is null and json_extract(policy_json, '$.require_mfa') = 1 limit 1`)) !== undefined
