import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

/** What of a user an instance admin can change. */
export interface UserFields {
  name: string
  email: string
  email_key: string
  is_instance_admin: boolean
}

/** Undefined when another user has the address. A new address is not known to be the user's. */
export const updateUserFields = async (catalog: Statements, id: number, fields: UserFields): Promise<boolean> =>
  (await catalog.get(sql`
    update or ignore users set
      name = ${fields.name}, email = ${fields.email}, is_instance_admin = ${fields.is_instance_admin},
      email_verified_at = case when email_key = ${fields.email_key} then email_verified_at end,
      email_key = ${fields.email_key}, version = version + 1
    where id = ${id} returning id`)) !== undefined

/** Lets a user in again, or not. `at` is when it was disabled; null: it is active. */
export const updateUserState = (catalog: Statements, id: number, at: number | null): Promise<void> =>
  catalog.run(sql`
    update users set status = ${at === null ? "active" : "disabled"}, disabled_at = ${at}, version = version + 1 where id = ${id}`)

/** Takes away everything beside the password. */
export async function deleteSecondFactors(catalog: Statements, userId: number): Promise<void> {
  await catalog.run(sql`update users set totp_sealed = null, totp_last_step = null, version = version + 1 where id = ${userId}`)
  await catalog.run(sql`delete from passkeys where user_id = ${userId}`)
  await catalog.run(sql`delete from recovery_codes where user_id = ${userId}`)
}

/** Organizations that would be without an active owner if a user went. */
export const organizationsOwnedAlone = (catalog: Statements, userId: number): Promise<{ id: number; name: string }[]> =>
  catalog.all(sql`
    select organizations.id, organizations.name from memberships join organizations on organizations.id = organization_id
    where user_id = ${userId} and role = 'owner' and deleted_at is null and not exists (
      select 1 from memberships as other join users on users.id = other.user_id
      where other.organization_id = organizations.id and other.role = 'owner' and other.user_id <> ${userId} and users.status = 'active')
    order by organizations.id limit 1000`)
