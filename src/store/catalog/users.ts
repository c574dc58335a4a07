import type { Profile, User } from "../../domain/user.ts"
import { sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

const COLUMNS = sql`
  id, email, name, is_instance_admin, status, email_verified_at, locale, time_format, theme, shortcuts, start_page, created_at,
  last_login_at, last_seen_at, disabled_at, version`
type UserRow = Omit<User, "is_instance_admin" | "shortcuts"> & { is_instance_admin: 0 | 1; shortcuts: 0 | 1 }

export interface NewUser {
  email: string
  email_key: string
  name: string
  /** Null for a user who signs in by other means or has not chosen a password yet. */
  password_hash: string | null
  is_instance_admin: boolean
  created_at: number
}

/** Inserts a user. Returns undefined when the address is taken. */
export async function insertUser(catalog: Statements, user: NewUser): Promise<User | undefined> {
  const row = await catalog.get<UserRow>(sql`
    insert into users (email, email_key, name, password_hash, is_instance_admin, created_at)
    values (${user.email}, ${user.email_key}, ${user.name}, ${user.password_hash}, ${user.is_instance_admin}, ${user.created_at})
    on conflict do nothing
    returning ${COLUMNS}`)
  return row && toUser(row)
}

/** Lists the users after an id, by id ascending. */
export async function listUsers(catalog: Statements, { after, limit }: Slice): Promise<User[]> {
  const rows = await catalog.all<UserRow>(sql`select ${COLUMNS} from users where id > ${after} order by id limit ${limit}`)
  return rows.map(toUser)
}

/** Returns the names of up to 1,000 users. */
export const userNames = (catalog: Statements, ids: readonly number[]): Promise<{ id: number; name: string }[]> =>
  catalog.all(sql`select id, name from users where id in (select value from json_each(${JSON.stringify(ids)}))`)

export async function userByEmailKey(catalog: Statements, emailKey: string): Promise<User | undefined> {
  const row = await catalog.get<UserRow>(sql`select ${COLUMNS} from users where email_key = ${emailKey}`)
  return row && toUser(row)
}

/** Returns a user of any status. The row of a deleted user stays, without name and address. */
export async function userById(catalog: Statements, id: number): Promise<User | undefined> {
  const row = await catalog.get<UserRow>(sql`select ${COLUMNS} from users where id = ${id}`)
  return row && toUser(row)
}

export const updateLastLogin = (catalog: Statements, userId: number, at: number): Promise<void> =>
  catalog.run(sql`update users set last_login_at = ${at}, last_seen_at = ${at} where id = ${userId}`)

export async function passwordHashOf(catalog: Statements, userId: number): Promise<string | null> {
  const row = await catalog.get<{ password_hash: string | null }>(sql`select password_hash from users where id = ${userId}`)
  return row?.password_hash ?? null
}

const toUser = (row: UserRow): User => ({ ...row, is_instance_admin: row.is_instance_admin === 1, shortcuts: row.shortcuts === 1 })

/** Replaces the hash of an unchanged password, for example with a costlier one. Does nothing when the password was changed meanwhile. */
export const replacePasswordHash = (catalog: Statements, userId: number, { old, fresh }: { old: string; fresh: string }): Promise<void> =>
  catalog.run(sql`update users set password_hash = ${fresh} where id = ${userId} and password_hash = ${old}`)

/** Sets a new password. */
export const updatePassword = (catalog: Statements, userId: number, hash: string): Promise<void> =>
  catalog.run(sql`update users set password_hash = ${hash}, version = version + 1 where id = ${userId}`)

export async function updateProfile(catalog: Statements, userId: number, profile: Profile): Promise<User> {
  const row = await catalog.get<UserRow>(sql`
    update users set
      name = ${profile.name}, locale = ${profile.locale}, time_format = ${profile.time_format}, theme = ${profile.theme},
      shortcuts = ${profile.shortcuts}, start_page = ${profile.start_page}, version = version + 1
    where id = ${userId} returning ${COLUMNS}`)
  return toUser(row!) // the caller is the signed-in user
}

/** Counts the active instance admins. */
export async function countInstanceAdmins(catalog: Statements): Promise<number> {
  const row = await catalog.get<{ n: number }>(sql`select count(*) as n from users where is_instance_admin = 1 and status = 'active'`)
  return row!.n // a count has a row
}

/** Removes everything personal from the row of a deleted user. The row stays for the records that refer to it; the address is free again. */
export const anonymizeUser = (catalog: Statements, userId: number, now: number): Promise<void> =>
  catalog.run(sql`
    update users set
      email = 'deleted-' || id, email_key = 'deleted-' || id, name = 'Deleted user', password_hash = null, email_verified_at = null,
      is_instance_admin = 0, status = 'deleted', deleted_at = ${now}, totp_sealed = null, totp_last_step = null, locale = null,
      time_format = null, theme = null, start_page = null, last_login_at = null, last_seen_at = null, version = version + 1
    where id = ${userId}`)

/** Deletes a user's credentials, except for the password, and the site-specific roles. */
export async function deleteUserAccess(catalog: Statements, userId: number): Promise<void> {
  await catalog.run(sql`delete from passkeys where user_id = ${userId}`)
  await catalog.run(sql`delete from recovery_codes where user_id = ${userId}`)
  await catalog.run(sql`delete from oidc_identities where user_id = ${userId}`)
  await catalog.run(sql`delete from login_tickets where user_id = ${userId}`)
  await catalog.run(sql`delete from one_time_tokens where user_id = ${userId}`)
  await catalog.run(sql`delete from site_members where user_id = ${userId}`)
}

/** Marks a user's address as verified, after a link that was sent to it was opened. */
export const markEmailVerified = (catalog: Statements, userId: number, now: number): Promise<void> =>
  catalog.run(sql`
    update users set email_verified_at = ${now}, version = version + 1 where id = ${userId} and email_verified_at is null`)

/** Changes the address of a user. Returns false when another user has it. */
export async function updateEmail(
  catalog: Statements,
  userId: number,
  { email, emailKey, verifiedAt }: { email: string; emailKey: string; verifiedAt: number | null },
): Promise<boolean> {
  const row = await catalog.get(sql`
    update users set email = ${email}, email_key = ${emailKey}, email_verified_at = ${verifiedAt}, version = version + 1
    where id = ${userId} and not exists (select 1 from users other where other.email_key = ${emailKey} and other.id <> ${userId})
    returning id`)
  return row !== undefined
}

/** Returns whether setup was completed. It stays true even when the first user is deleted. */
export const isSetUp = async (catalog: Statements): Promise<boolean> => (await catalog.get(sql`select 1 from setup`)) !== undefined

/** Returns whether the catalog contains an organization or a user. False for a new catalog, even before its first migrations have run. */
export async function isInUse(catalog: Statements): Promise<boolean> {
  const tables = await catalog.all<{ name: string }>(
    sql`select name from sqlite_schema where type = 'table' and name in ('organizations', 'users')`,
  )
  if (tables.length < 2) return false // the first migration creates both
  return (await catalog.get(sql`select 1 from organizations union all select 1 from users limit 1`)) !== undefined
}

export const insertSetup = (catalog: Statements, { userId, now }: { userId: number; now: number }): Promise<void> =>
  catalog.run(sql`insert into setup (id, completed_at, completed_by) values (1, ${now}, ${userId})`)

/** The fields of a user that an instance admin can change. */
export interface UserFields {
  name: string
  email: string
  email_key: string
  is_instance_admin: boolean
}

/** Updates a user. Returns false when another user has the address. A new address is not verified. */
export const updateUserFields = async (catalog: Statements, id: number, fields: UserFields): Promise<boolean> =>
  (await catalog.get(sql`
    update or ignore users set
      name = ${fields.name}, email = ${fields.email}, is_instance_admin = ${fields.is_instance_admin},
      email_verified_at = case when email_key = ${fields.email_key} then email_verified_at end,
      email_key = ${fields.email_key}, version = version + 1
    where id = ${id} returning id`)) !== undefined

/** Disables a user, or enables the user again. `at` is the time of disabling; null means active. */
export const updateUserState = (catalog: Statements, id: number, at: number | null): Promise<void> =>
  catalog.run(sql`
    update users set status = ${at === null ? "active" : "disabled"}, disabled_at = ${at}, version = version + 1 where id = ${id}`)

/** Deletes all second factors of a user. */
export async function deleteSecondFactors(catalog: Statements, userId: number): Promise<void> {
  await catalog.run(sql`update users set totp_sealed = null, totp_last_step = null, version = version + 1 where id = ${userId}`)
  await catalog.run(sql`delete from passkeys where user_id = ${userId}`)
  await catalog.run(sql`delete from recovery_codes where user_id = ${userId}`)
}

/** Lists the organizations of which a user is the only active owner. */
export const organizationsOwnedAlone = (catalog: Statements, userId: number): Promise<{ id: number; name: string }[]> =>
  catalog.all(sql`
    select organizations.id, organizations.name from memberships join organizations on organizations.id = organization_id
    where user_id = ${userId} and role = 'owner' and deleted_at is null and not exists (
      select 1 from memberships as other join users on users.id = other.user_id
      where other.organization_id = organizations.id and other.role = 'owner' and other.user_id <> ${userId} and users.status = 'active')
    order by organizations.id limit 1000`)
