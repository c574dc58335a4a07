import { createHash } from "node:crypto"
import { AppError, type OwnStatements, parseId, refuseOtherVersion, refuseStaleBody, type Site } from "#plugin"
import type { Author, IntegrationsHost } from "../area.ts"
import { integrationError } from "../errors.ts"
import { type HookSecret, LIMITS, type PaymentHook } from "./hook.ts"
import { readHookPatch, readNewHook, readRotation } from "./input.ts"
import { type HookResponse, type HookWithUrl, hookResponse } from "./responses.ts"
import { deleteEvent, deleteHook, hookById, insertHook, lastEvent, listEvents, listHooks, setHookSecrets, updateHook } from "./rows.ts"

/** The payment hooks of a site. Each change writes one audit entry in its own transaction. */
export interface PaymentHooks {
  list(site: Site): Promise<PaymentHook[]>
  /** Throws `hook_not_found`. */
  get(site: Site, id: string | undefined): Promise<PaymentHook>
  show(hook: PaymentHook): Promise<HookResponse>
  create(author: Author, body: unknown, alongside: Alongside): Promise<HookWithUrl>
  update(author: Author, id: string | undefined, body: unknown): Promise<PaymentHook>
  remove(author: Author, id: string | undefined): Promise<void>
  /** Replaces the signing secret by a new one of the provider. The old one stays valid for 24 hours. */
  rotate(author: Author, id: string | undefined, body: unknown): Promise<PaymentHook>
}

/** Stores the answer of a creation in its transaction. */
type Alongside = (statements: OwnStatements, created: HookWithUrl) => Promise<void>

const TOKEN_BYTES = 32

/** Returns the hash by which the hook of a token is found. The token is random, so the hash needs no salt. */
export const tokenHash = (token: string): string => createHash("sha256").update(token).digest("hex")

export const hookNotFound = () => integrationError("hook_not_found", "This payment hook doesn't exist.")

export function createPaymentHooks(host: IntegrationsHost): PaymentHooks {
  const { db, now, random, secrets } = host

  async function find(statements: OwnStatements, site: Site, named: string | undefined): Promise<PaymentHook> {
    const hook = await hookById(statements, parseId(named) ?? 0)
    if (hook?.site_id === site.id) return hook
    throw hookNotFound()
  }

  const audit = (
    statements: OwnStatements,
    { actor, site }: Author,
    verb: string,
    hook: Pick<PaymentHook, "id" | "kind">,
    changes?: Record<string, readonly [unknown, unknown]>,
  ): Promise<void> =>
    host.audit.write(statements, actor, {
      action: `integrations.hook.${verb}`,
      target: { type: "payment_hook", id: hook.id, label: hook.kind },
      organizationId: site.organization_id,
      siteId: site.id,
      ...(changes && { changes }),
    })

  const seal = async (statements: OwnStatements, id: number, secret: string): Promise<HookSecret> => ({
    id: await secrets.put(statements, { table: "integrations_hooks", row: id, purpose: "signing" }, secret),
    valid_until: null,
  })

  async function refuseFull(statements: OwnStatements, site: Site): Promise<void> {
    if ((await listHooks(statements, site.id)).length < LIMITS.perSite) return
    const detail = `A site can have at most ${LIMITS.perSite} payment hooks.`
    throw new AppError("limit_reached", detail, { limit: LIMITS.perSite, resource: "payment_hooks" })
  }

  const show: PaymentHooks["show"] = async (hook) =>
    hookResponse(hook, { secret: await secrets.shown(hook.secrets[0]?.id ?? null), last: await lastEvent(db, hook.id), now: now() })

  return {
    show,
    list: ({ id }) => listHooks(db, id),
    get: (site, id) => find(db, site, id),

    async create(author, body, alongside) {
      const { site, userId } = author
      const { kind, signing_secret } = readNewHook(body)
      const token = Buffer.from(random(TOKEN_BYTES)).toString("base64url")
      return db.transaction(async (statements) => {
        await refuseFull(statements, site)
        const fields = { site_id: site.id, kind, token_hash: tokenHash(token), created_by: userId }
        const id = await insertHook(statements, fields, now())
        if (signing_secret !== undefined) await setHookSecrets(statements, id, [await seal(statements, id, signing_secret)])
        const hook = (await hookById(statements, id))! // inserted above
        await audit(statements, author, "create", hook, { kind: [null, kind] })
        // Secrets can't be read within the transaction that stores them, but this one is known.
        const shown = hookResponse(hook, { secret: { set: signing_secret !== undefined }, last: undefined, now: now() })
        const created = { ...shown, url: `${host.baseUrl()}/api/hooks/${kind}/${token}` }
        await alongside(statements, created)
        return created
      })
    },

    async update(author, id, body) {
      const { site } = author
      const { version, enabled } = readHookPatch(body)
      const shown = await show(await find(db, site, id))
      return db.transaction(async (statements) => {
        const hook = await find(statements, site, id)
        refuseStaleBody(hook, version, () => shown)
        refuseOtherVersion(hook, author.expected)
        if (enabled === undefined || enabled === hook.enabled) return hook
        const after = await updateHook(statements, hook.id, { ...hook, enabled }, now())
        await audit(statements, author, "update", after, { enabled: [hook.enabled, enabled] })
        return after
      })
    },

    async remove(author, id) {
      const removed = await db.transaction(async (statements) => {
        const hook = await find(statements, author.site, id)
        refuseOtherVersion(hook, author.expected)
        await dropHook(host, statements, hook)
        await audit(statements, author, "delete", hook)
        return hook
      })
      await forgetEvents(host, (statements) => listEvents(statements, removed.id))
    },

    async rotate(author, id, body) {
      const secret = readRotation((await find(db, author.site, id)).kind, body)
      return db.transaction(async (statements) => {
        const hook = await find(statements, author.site, id)
        const [current, ...older] = hook.secrets
        const fresh = await seal(statements, hook.id, secret)
        for (const { id: old } of older) await secrets.remove(statements, old)
        const kept = current ? [{ ...current, valid_until: now() + LIMITS.rotationMs }] : []
        const after = await updateHook(statements, hook.id, { ...hook, secrets: [fresh, ...kept] }, now())
        await audit(statements, author, "rotate-secret", after, { secret: [current ? "(redacted)" : null, "(redacted)"] })
        return after
      })
    },
  }
}

/** Deletes a hook with its secrets. Its events are deleted afterwards, in slices. */
export async function dropHook(host: IntegrationsHost, statements: OwnStatements, hook: PaymentHook): Promise<void> {
  await deleteHook(statements, hook.id)
  for (const { id } of hook.secrets) await host.secrets.remove(statements, id)
}

type Forgotten = { id: number; body_secret_id: number | null }

/** Deletes events with their bodies, one slice per transaction, until there are none. Returns how many. */
export async function forgetEvents(
  { db, secrets }: IntegrationsHost,
  list: (statements: OwnStatements) => Promise<readonly Forgotten[]>,
  signal?: AbortSignal,
): Promise<number> {
  for (let removed = 0; ; await Bun.sleep(0)) {
    const count = await db.transaction(async (statements) => {
      const events = await list(statements)
      for (const { id, body_secret_id } of events) {
        await deleteEvent(statements, id)
        if (body_secret_id !== null) await secrets.remove(statements, body_secret_id)
      }
      return events.length
    })
    removed += count
    if (count === 0 || signal?.aborted) return removed
  }
}
