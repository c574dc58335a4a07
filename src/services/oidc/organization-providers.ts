import { type Actor, changesBetween, REDACTED } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { ORGANIZATION } from "../../domain/limits.ts"
import type { Log } from "../../domain/log.ts"
import type { Organization } from "../../domain/organization.ts"
import type { Permissions } from "../../domain/permission.ts"
import { type ProviderFields, type ProviderTest, providerFields, readProvider } from "../../domain/provider-input.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../../domain/version.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  countIdentities,
  deleteIdentitiesOf,
  deleteProvider,
  insertProvider,
  listProvidersOf,
  providerOf,
  type StoredProvider,
  updateProvider,
} from "../../store/catalog/oidc.ts"
import { revokeSessionsBy } from "../../store/catalog/sessions.ts"
import type { Audit } from "../audit/audit.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { ShownSecret, StoredSecrets } from "../key-rotation/stored-secrets.ts"
import type { Outbound } from "../outbound/outbound.ts"
import type { Random } from "../secrets/secrets.ts"
import { refuseLockOut } from "../sign-in/sso-rule.ts"
import { checkProvider, openedProvider } from "./providers.ts"
import { refuseMapBeyond } from "./roles.ts"
import { callbackAddress } from "./round-trip.ts"

/** A provider as its organization's admins see it, without its client secret. */
export interface OwnProvider extends Omit<StoredProvider, "role_map" | "secret_id" | "organization_id">, Pick<ProviderFields, "role_map"> {
  client_secret: ShownSecret
  /** Redirect URI to register at the provider. */
  redirect_uri: string
  /** Number of linked users. */
  identities: number
}

/** The author of a change and their session, which stays open when other sessions of the provider end. */
export interface ProviderWriter {
  userId: number
  sessionId: number
}

export interface ProviderTerms {
  expected?: Expected
  alongside?: Alongside<StoredProvider>
  /** Returns the provider as the API shows it, for the `version_conflict` error. */
  current?(provider: OwnProvider): object
}

/**
 * The identity providers of organizations. Members can map groups only to roles that they may grant themselves. A change that leaves
 * members unable to sign in is `provider_required`. A provider of another organization is `provider_not_found`.
 */
export interface OrganizationProviders {
  list(organizationId: number): Promise<OwnProvider[]>
  get(organizationId: number, id: string | undefined): Promise<OwnProvider>
  /** Creates a provider. Throws `validation_failed`, `forbidden`, `limit_reached`. */
  create(
    organization: Organization,
    body: unknown,
    by: ProviderWriter,
    terms?: ProviderTerms & { storeResponse?: Alongside<OwnProvider> },
  ): Promise<OwnProvider>
  /**
   * Applies a merge patch. A new issuer removes all linked identities and ends the provider's sessions; disabling ends the sessions. Also
   * throws `version_conflict`, `precondition_failed`.
   */
  update(
    organization: Organization,
    id: string | undefined,
    patch: unknown,
    by: ProviderWriter,
    terms?: ProviderTerms,
  ): Promise<OwnProvider>
  /** Removes a provider and ends its sessions. Roles granted by its map remain. */
  remove(organization: Organization, id: string | undefined, by: ProviderWriter, terms?: ProviderTerms): Promise<void>
  /** Checks whether the provider responds as a sign-in requires. The request obeys the rules for user-entered URLs. */
  test(organizationId: number, id: string | undefined): Promise<ProviderTest>
}

interface OrganizationProvidersOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  log: Log
  permissions: Permissions
  sites: { list(organizationId: number): Promise<readonly { id: number }[]> }
  outbound: Pick<Outbound, "check" | "fetch">
  /** Encrypted values of the core. */
  storedSecrets: StoredSecrets
  hasInstanceProvider: boolean
  /** Returns the base URL of the instance. */
  publicUrl(): string
}

export function createOrganizationProviders(options: OrganizationProvidersOptions): OrganizationProviders {
  const { catalog, clock, random, log, permissions, sites, outbound, storedSecrets, hasInstanceProvider, publicUrl } = options

  async function find(statements: Statements, organizationId: number, id: string | undefined): Promise<StoredProvider> {
    const found = id === undefined ? undefined : await providerOf(statements, organizationId, id)
    if (!found) throw new AppError("provider_not_found", "This organization has no identity provider with this id.")
    return found
  }
  async function shown(provider: StoredProvider, statements: Statements = catalog): Promise<OwnProvider> {
    const { secret_id, organization_id: _, role_map, ...stored } = provider
    const [client_secret, identities] = [await storedSecrets.shown(secret_id, statements), await countIdentities(statements, stored.id)]
    const redirect_uri = callbackAddress(publicUrl(), stored.id)
    // The map was validated when it was saved.
    return { ...stored, role_map: role_map as ProviderFields["role_map"], client_secret, redirect_uri, identities }
  }
  const termsOf = async (organizationId: number) => ({
    refusesUrl: (url: string) => isRefused(outbound, url),
    ownSites: new Set((await sites.list(organizationId)).map(({ id }) => id)),
  })
  /** Stores a new secret in a new row and returns its id, so that the audit entry shows a change. Returns the old id if there is none. */
  async function storeSecret(statements: Statements, id: string, before: number | null, secret: string | null | undefined) {
    if (secret === undefined) return before
    return secret === null ? null : storedSecrets.put(statements, { table: "oidc_providers", row: id, purpose: "client_secret" }, secret)
  }
  const endSessions = (statements: Statements, id: string, { sessionId }: ProviderWriter): Promise<void> =>
    revokeSessionsBy(statements, id, clock.now(), sessionId)

  return {
    list: async (organizationId) => Promise.all((await listProvidersOf(catalog, organizationId)).map((each) => shown(each))),
    get: async (organizationId, id) => shown(await find(catalog, organizationId, id)),
    async create(organization, body, by, { alongside, storeResponse } = {}) {
      const { fields, secret } = readProvider(body, undefined, await termsOf(organization.id))
      const id = idFor(fields.name, random)
      return catalog.transaction(async (statements) => {
        await refuseMapBeyond(statements, organization.id, fields, { userId: by.userId, permissions })
        const others = await listProvidersOf(statements, organization.id)
        if (others.length >= ORGANIZATION.providers) throw tooMany()
        const secret_id = await storeSecret(statements, id, null, secret)
        // Lists are ordered by this time, so it must be unique.
        const now = Math.max(clock.now(), (others.at(-1)?.created_at ?? 0) + 1)
        await insertProvider(statements, { ...fields, id, organizationId: organization.id, secret_id, now })
        await refuseLockOut(statements, organization.id, hasInstanceProvider)
        const after = await find(statements, organization.id, id)
        await alongside?.(statements, { after })
        const answer = await shown(after, statements)
        await storeResponse?.(statements, { after: answer })
        return answer
      })
    },
    async update(organization, id, patch, by, { expected, alongside, current = (provider: OwnProvider): object => provider } = {}) {
      const terms = await termsOf(organization.id)
      const stored = await catalog.transaction(async (statements) => {
        const before = await find(statements, organization.id, id)
        const { fields, secret, version } = readProvider(patch, fieldsOf(before), terms)
        await refuseMapBeyond(statements, organization.id, fields, { userId: by.userId, permissions })
        refuseOtherVersion(before, expected)
        const present = await shown(before, statements)
        refuseStaleBody(before, version, () => current(present))
        if (secret === undefined && Bun.deepEquals(fields, fieldsOf(before))) return before
        const secret_id = await storeSecret(statements, before.id, before.secret_id, secret)
        await updateProvider(statements, before.id, { ...fields, secret_id, now: clock.now() })
        if (before.secret_id !== null && secret_id !== before.secret_id) await storedSecrets.remove(statements, before.secret_id)
        if (fields.issuer !== before.issuer) await deleteIdentitiesOf(statements, before.id)
        if (fields.issuer !== before.issuer || !fields.enabled) await endSessions(statements, before.id, by)
        await refuseLockOut(statements, organization.id, hasInstanceProvider)
        const after = await find(statements, organization.id, before.id)
        await alongside?.(statements, { before, after })
        return after
      })
      return shown(stored)
    },
    async remove(organization, id, by, { expected, alongside } = {}) {
      await catalog.transaction(async (statements) => {
        const before = await find(statements, organization.id, id)
        refuseOtherVersion(before, expected)
        await deleteIdentitiesOf(statements, before.id)
        await endSessions(statements, before.id, by)
        await deleteProvider(statements, before.id)
        if (before.secret_id !== null) await storedSecrets.remove(statements, before.secret_id)
        await refuseLockOut(statements, organization.id, hasInstanceProvider)
        await alongside?.(statements, { before })
      })
    },
    test: async (organizationId, id) =>
      checkProvider(outbound, await openedProvider(await find(catalog, organizationId, id), storedSecrets, log)),
  }
}

const fieldsOf = (stored: StoredProvider): ProviderFields =>
  providerFields({ ...stored, role_map: stored.role_map as ProviderFields["role_map"] }) // validated when it was saved

function isRefused(outbound: Pick<Outbound, "check">, url: string): boolean {
  try {
    outbound.check(url)
    return false
  } catch {
    return true
  }
}

const ID_BYTES = 5

/** Returns a new provider id, which is part of the redirect URI. Its random end avoids conflicts that would reveal other organizations' providers. */
function idFor(name: string, random: Random): string {
  const words = name
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 30)
    .replaceAll(/^-|-$/g, "")
  return [words || "provider", random(ID_BYTES).toHex()].join("-")
}

const tooMany = () =>
  new AppError("limit_reached", `An organization can have up to ${ORGANIZATION.providers} identity providers.`, {
    limit: ORGANIZATION.providers,
    resource: "providers",
  })

/** Returns a callback that writes the audit entry of a change to a provider. Of the secret it records only that it changed. */
export const providerRecorded =
  (audit: Pick<Audit, "write">, actor: Actor, verb: "create" | "update" | "delete"): Alongside<StoredProvider> =>
  async (statements, { before, after }) => {
    const { id, name, organization_id } = (after ?? before)! // at least one of them is set
    const { secret_id: _, ...others } = changesBetween(before, after)
    const secret = before?.secret_id === after?.secret_id ? {} : { client_secret: [marked(before), marked(after)] as const }
    await audit.write(statements, actor, {
      action: `accounts.provider.${verb}`,
      target: { type: "provider", id, label: name },
      organizationId: organization_id ?? undefined,
      changes: { ...others, ...secret },
    })
  }

const marked = (provider: StoredProvider | undefined): string | null => (provider?.secret_id == null ? null : REDACTED)
