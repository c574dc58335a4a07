import type { User } from "../../domain/user.ts"
import type { Slice, Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

const COLUMNS = sql`
  id, email, name, is_instance_admin, status, email_verified_at, locale, time_format, theme, shortcuts, start_page, created_at,
  last_login_at, last_seen_at, disabled_at, version`
type UserRow = Omit<User, "is_instance_admin" | "shortcuts"> & { is_instance_admin: 0 | 1; shortcuts: 0 | 1 }

export interface NewUser {
  email: string
  email_key: string
  name: string
  /** Null for somebody who signs in otherwise, or not yet. */
  password_hash: string | null
  is_instance_admin: boolean
  created_at: number
}

/** Undefined when the address is taken. */
export async function insertUser(catalog: Statements, user: NewUser): Promise<User | undefined> {
  const row = await catalog.get<UserRow>(sql`
    insert into users (email, email_key, name, password_hash, is_instance_admin, created_at)
    values (${user.email}, ${user.email_key}, ${user.name}, ${user.password_hash}, ${user.is_instance_admin}, ${user.created_at})
    on conflict do nothing
    returning ${COLUMNS}`)
  return row && toUser(row)
}

/** By id ascending, those after an id. */
export async function listUsers(catalog: Statements, { after, limit }: Slice): Promise<User[]> {
  const rows = await catalog.all<UserRow>(sql`select ${COLUMNS} from users where id > ${after} order by id limit ${limit}`)
  return rows.map(toUser)
}

export async function userByEmailKey(catalog: Statements, emailKey: string): Promise<User | undefined> {
  const row = await catalog.get<UserRow>(sql`select ${COLUMNS} from users where email_key = ${emailKey}`)
  return row && toUser(row)
}

/** Of any status; a deleted user's row stays, without a name and an address. */
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

export const updatePasswordHash = (catalog: Statements, userId: number, hash: string): Promise<void> =>
  catalog.run(sql`update users set password_hash = ${hash} where id = ${userId}`)

const toUser = (row: UserRow): User => ({ ...row, is_instance_admin: row.is_instance_admin === 1, shortcuts: row.shortcuts === 1 })

/** Unless somebody has chosen another password meanwhile. */
export const replacePasswordHash = (catalog: Statements, userId: number, { old, fresh }: { old: string; fresh: string }): Promise<void> =>
  catalog.run(sql`update users set password_hash = ${fresh} where id = ${userId} and password_hash = ${old}`)
