import { type OwnStatements, sql } from "#plugin"
import type { HookEvent, HookSecret, PaymentHook } from "./hook.ts"

const HOOK = sql`id, site_id, kind, token_hash, secrets_json, enabled, last_event_at, created_by, created_at, updated_at, version`

type HookRow = Omit<PaymentHook, "secrets" | "enabled"> & { secrets_json: string; enabled: 0 | 1 }

// The columns contain what this file has written.
const toHook = ({ secrets_json, enabled, ...row }: HookRow): PaymentHook => ({
  ...row,
  secrets: JSON.parse(secrets_json),
  enabled: enabled === 1,
})

export async function hookById(statements: OwnStatements, id: number): Promise<PaymentHook | undefined> {
  const row = await statements.get<HookRow>(sql`select ${HOOK} from integrations_hooks where id = ${id}`)
  return row && toHook(row)
}

export async function hookByToken(statements: OwnStatements, tokenHash: string): Promise<PaymentHook | undefined> {
  const row = await statements.get<HookRow>(sql`select ${HOOK} from integrations_hooks where token_hash = ${tokenHash}`)
  return row && toHook(row)
}

/** Lists the hooks of a site, by id. */
export async function listHooks(statements: OwnStatements, siteId: number): Promise<PaymentHook[]> {
  const rows = await statements.all<HookRow>(sql`select ${HOOK} from integrations_hooks where site_id = ${siteId} order by id limit 1000`)
  return rows.map(toHook)
}

/** Inserts a hook whose secret is stored next. */
export async function insertHook(
  statements: OwnStatements,
  { site_id, kind, token_hash, created_by }: Pick<PaymentHook, "site_id" | "kind" | "token_hash" | "created_by">,
  now: number,
): Promise<number> {
  const row = await statements.get<{ id: number }>(sql`
    insert into integrations_hooks (site_id, kind, token_hash, secrets_json, created_by, created_at, updated_at)
    values (${site_id}, ${kind}, ${token_hash}, '[]', ${created_by}, ${now}, ${now}) returning id`)
  return row!.id // an insert that returns has a row
}

export const setHookSecrets = (statements: OwnStatements, id: number, secrets: readonly HookSecret[]): Promise<void> =>
  statements.run(sql`update integrations_hooks set secrets_json = ${JSON.stringify(secrets)} where id = ${id}`)

/** Stores a change that people make, with a new version. */
export async function updateHook(
  statements: OwnStatements,
  id: number,
  { enabled, secrets }: Pick<PaymentHook, "enabled" | "secrets">,
  now: number,
): Promise<PaymentHook> {
  const row = await statements.get<HookRow>(sql`
    update integrations_hooks set enabled = ${enabled ? 1 : 0}, secrets_json = ${JSON.stringify(secrets)}, updated_at = ${now},
      version = version + 1
    where id = ${id} returning ${HOOK}`)
  return toHook(row!) // the caller has read it in this transaction
}

export const deleteHook = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from integrations_hooks where id = ${id}`)

/** Lists the hooks with a previous secret, after an id. */
export async function listRotated(statements: OwnStatements, after: number): Promise<PaymentHook[]> {
  const rows = await statements.all<HookRow>(sql`
    select ${HOOK} from integrations_hooks where id > ${after} and json_array_length(secrets_json) > 1 order by id limit 500`)
  return rows.map(toHook)
}

const EVENT = sql`id, hook_id, external_id, received_at, body_secret_id, result, detail`

export const eventByExternalId = (statements: OwnStatements, hookId: number, externalId: string): Promise<HookEvent | undefined> =>
  statements.get(sql`select ${EVENT} from integrations_hook_events where hook_id = ${hookId} and external_id = ${externalId}`)

/** Returns the event that a hook received last. */
export const lastEvent = (statements: OwnStatements, hookId: number): Promise<HookEvent | undefined> =>
  statements.get(sql`
    select ${EVENT} from integrations_hook_events where hook_id = ${hookId} order by received_at desc, id desc limit 1`)

export type NewHookEvent = Pick<HookEvent, "hook_id" | "external_id" | "received_at" | "result" | "detail"> & {
  /** Sale and sum of its refunds, from providers that report no single ones. */
  refunded: { sale: string; amount: number } | undefined
}

/** Inserts an event, and notes at its hook that one arrived. Returns its id. */
export async function insertEvent(statements: OwnStatements, event: NewHookEvent): Promise<number> {
  const { hook_id, external_id, received_at, result, detail, refunded } = event
  const row = await statements.get<{ id: number }>(sql`
    insert into integrations_hook_events (hook_id, external_id, received_at, result, detail, refunded_sale, refunded_minor)
    values (${hook_id}, ${external_id}, ${received_at}, ${result}, ${detail}, ${refunded?.sale ?? null}, ${refunded?.amount ?? null})
    returning id`)
  await statements.run(sql`update integrations_hooks set last_event_at = ${received_at} where id = ${hook_id}`)
  return row!.id // an insert that returns has a row
}

export const setBody = (statements: OwnStatements, id: number, bodySecretId: number | null): Promise<void> =>
  statements.run(sql`update integrations_hook_events set body_secret_id = ${bodySecretId} where id = ${id}`)

/** Returns the sum of the refunds of a sale that a hook has reported. */
export async function refundedSoFar(statements: OwnStatements, hookId: number, sale: string): Promise<number> {
  const row = await statements.get<{ amount: number | null }>(sql`
    select max(refunded_minor) as amount from integrations_hook_events where hook_id = ${hookId} and refunded_sale = ${sale}`)
  return row?.amount ?? 0
}

type StoredBody = Pick<HookEvent, "id" | "body_secret_id">
const SLICE = 200

/** Lists events whose body was stored before a time, at most a slice. */
export const listOldBodies = (statements: OwnStatements, before: number): Promise<(StoredBody & { body_secret_id: number })[]> =>
  statements.all(sql`
    select id, body_secret_id from integrations_hook_events
    where body_secret_id is not null and received_at < ${before} order by received_at limit ${SLICE}`)

/** Lists events of a hook, at most a slice. */
export const listEvents = (statements: OwnStatements, hookId: number): Promise<StoredBody[]> =>
  statements.all(sql`select id, body_secret_id from integrations_hook_events where hook_id = ${hookId} order by id limit ${SLICE}`)

/** Lists events that are too old, or whose hook was deleted, at most a slice. */
export const listForgettable = (statements: OwnStatements, before: number): Promise<StoredBody[]> =>
  statements.all(sql`
    select id, body_secret_id from integrations_hook_events
    where received_at < ${before} or hook_id not in (select id from integrations_hooks) order by id limit ${SLICE}`)

export const deleteEvent = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from integrations_hook_events where id = ${id}`)
