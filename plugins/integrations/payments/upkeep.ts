import { instantOrNull, instantText, type Site } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { LIMITS } from "./hook.ts"
import { dropHook, forgetEvents } from "./hooks.ts"
import { listEvents, listForgettable, listHooks, listOldBodies, listRotated, setBody, setHookSecrets } from "./rows.ts"

/** Job that deletes bodies after 30 days, secrets after their rotation and events after 400 days. */
export const pruningOf = (host: IntegrationsHost) => ({
  interrupted: "resume" as const,
  schedule: { cron: "50 3 * * *" },
  run: ({ signal }: { signal: AbortSignal }) => prune(host, signal),
})

async function prune(host: IntegrationsHost, signal: AbortSignal): Promise<void> {
  const { db, now, secrets } = host
  for (let count = 1; count > 0 && !signal.aborted; await Bun.sleep(0))
    count = await db.transaction(async (statements) => {
      const old = await listOldBodies(statements, now() - LIMITS.bodyKeptMs)
      for (const { id, body_secret_id } of old) {
        await setBody(statements, id, null)
        await secrets.remove(statements, body_secret_id)
      }
      return old.length
    })
  await forgetEvents(host, (statements) => listForgettable(statements, now() - LIMITS.eventKeptMs), signal)
  await forgetOldSecrets(host, signal)
}

/** Deletes the signing secrets whose validity has ended after a rotation. */
async function forgetOldSecrets({ db, now, secrets }: IntegrationsHost, signal: AbortSignal): Promise<void> {
  for (let after: number | undefined = 0; after !== undefined && !signal.aborted; ) {
    const from: number = after
    after = await db.transaction(async (statements) => {
      const hooks = await listRotated(statements, from)
      for (const { id, secrets: all } of hooks) {
        const ended = all.filter(({ valid_until }) => valid_until !== null && valid_until <= now())
        if (ended.length === 0) continue
        await setHookSecrets(
          statements,
          id,
          all.filter((secret) => !ended.includes(secret)),
        )
        for (const secret of ended) await secrets.remove(statements, secret.id)
      }
      return hooks.at(-1)?.id
    })
  }
}

/** Deletes the hooks of a site with their events and secrets. */
export async function removePaymentHooks(
  host: IntegrationsHost,
  siteId: number,
): Promise<{ payment_hooks: number; payment_events: number }> {
  const hooks = await host.db.transaction(async (statements) => {
    const all = await listHooks(statements, siteId)
    for (const hook of all) await dropHook(host, statements, hook)
    return all
  })
  let payment_events = 0
  for (const { id } of hooks) payment_events += await forgetEvents(host, (statements) => listEvents(statements, id))
  return { payment_hooks: hooks.length, payment_events }
}

/** Returns the rows of the file of payment hooks in a site's archive, without tokens and secrets. */
export async function* exportedHooks({ db }: IntegrationsHost, { id }: Site): AsyncIterable<object> {
  const hooks = await listHooks(db, id)
  for (const { kind, enabled, last_event_at, created_at } of hooks)
    yield { kind, enabled, last_event_at: instantOrNull(last_event_at), created_at: instantText(created_at) }
}
