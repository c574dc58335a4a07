import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { ORGANIZATION } from "../domain/limits.ts"
import type { Log } from "../domain/log.ts"
import type { Organization } from "../domain/organization.ts"
import type { Permissions } from "../domain/permission.ts"
import { type ProviderFields, readProvider } from "../domain/provider-input.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../domain/version.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import {
  countIdentities,
  deleteIdentitiesOf,
  deleteProvider,
  insertProvider,
  listProvidersOf,
  providerOf,
  type StoredProvider,
  updateProvider,
} from "../store/catalog/oidc-providers.ts"
import { revokeSessionsBy } from "../store/catalog/sessions.ts"
import { lookAtProvider, type OidcTest } from "./oidc-look.ts"
import { openedProvider } from "./oidc-providers.ts"
import { callbackAddress } from "./oidc-round-trip.ts"
import type { Outbound } from "./outbound.ts"
import { refuseMapBeyond } from "./role-map-rule.ts"
import type { Random } from "./secrets.ts"
import type { Alongside } from "./site-things.ts"
import type { Sites } from "./sites.ts"
import { refuseLockOut } from "./sso-rule.ts"
import type { ShownSecret, StoredSecrets } from "./stored-secrets.ts"

/** A provider as its organization's admins see it: its secret is never told. */
export interface OwnProvider extends Omit<StoredProvider, "role_map" | "secret_id" | "organization_id">, Pick<ProviderFields, "role_map"> {
  client_secret: ShownSecret
  /** Where it sends browsers back to. */
  redirect_uri: string
  /** How many users it knows. */
  identities: number
}

/** Who writes, and by which session: that one goes on when others of the provider end. */
export interface ProviderWriter {
  userId: number
  sessionId: number
}

export interface ProviderTerms {
  expected?: Expected
  alongside?: Alongside<StoredProvider>
  /** The provider as answers show it, for a caller whose version is old. */
  current?(provider: OwnProvider): object
}

/**
 * The identity providers that an organization enters for itself. Nobody maps groups to a role that they could not give, and no
 * change leaves members without a way in: `provider_required`. An unknown one, and that of another organization, is
 * `provider_not_found`.
 */
export interface OrganizationProviders {
  list(organizationId: number): Promise<OwnProvider[]>
  get(organizationId: number, id: string | undefined): Promise<OwnProvider>
  /** Throws `validation_failed`, `forbidden`, `limit_reached`. */
  create(
    organization: Organization,
    body: unknown,
    by: ProviderWriter,
    terms?: ProviderTerms & { told?: Alongside<OwnProvider> },
  ): Promise<OwnProvider>
  /**
   * A merge patch. Another issuer knows other people: whom the one before knew is forgotten, and its sessions end, as they do
   * when it is switched off. Throws also `version_conflict`, `precondition_failed`.
   */
  update(
    organization: Organization,
    id: string | undefined,
    patch: unknown,
    by: ProviderWriter,
    terms?: ProviderTerms,
  ): Promise<OwnProvider>
  /** Its sessions end; roles that its map gave stay as people's. */
  remove(organization: Organization, id: string | undefined, by: ProviderWriter, terms?: ProviderTerms): Promise<void>
  /** Whether it answers as signing in by it takes, through the guard for addresses that people enter. */
  test(organizationId: number, id: string | undefined): Promise<OidcTest>
}

interface OrganizationProvidersOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  log: Log
  permissions: Permissions
  sites: Pick<Sites, "list">
  outbound: Pick<Outbound, "check" | "fetch">
  /** Of the core. */
  storedSecrets: StoredSecrets
  hasInstanceProvider: boolean
  /** Under which people reach the instance. */
  publicUrl(): string
}

export function createOrganizationProviders(options: OrganizationProvidersOptions): OrganizationProviders {
  const { catalog, clock, random, log, permissions, sites, outbound, storedSecrets, hasInstanceProvider, publicUrl } = options

  async function find(statements: Statements, organizationId: number, id: string | undefined): Promise<StoredProvider> {
    const found = id === undefined ? undefined : await providerOf(statements, organizationId, id)
    if (!found) throw new AppError("provider_not_found", "The organization has no identity provider with this id")
    return found
  }
  async function shown(provider: StoredProvider, statements: Statements = catalog): Promise<OwnProvider> {
    const { secret_id, organization_id: _, role_map, ...stored } = provider
    const [client_secret, identities] = [await storedSecrets.shown(secret_id, statements), await countIdentities(statements, stored.id)]
    const redirect_uri = callbackAddress(publicUrl(), stored.id)
    // The map was judged when it was entered.
    return { ...stored, role_map: role_map as ProviderFields["role_map"], client_secret, redirect_uri, identities }
  }
  const termsOf = async (organizationId: number) => ({
    refusesUrl: (url: string) => isRefused(outbound, url),
    ownSites: new Set((await sites.list(organizationId)).map(({ id }) => id)),
  })
  /** The id of the secret after a write: another value is another row, so that the log shows that it was changed. */
  async function keptSecret(statements: Statements, id: string, before: number | null, secret: string | null | undefined) {
    if (secret === undefined) return before
    return secret === null ? null : storedSecrets.put(statements, { table: "oidc_providers", row: id, purpose: "client_secret" }, secret)
  }
  const endSessions = (statements: Statements, id: string, { sessionId }: ProviderWriter): Promise<void> =>
    revokeSessionsBy(statements, id, clock.now(), sessionId)

  return {
    list: async (organizationId) => Promise.all((await listProvidersOf(catalog, organizationId)).map((each) => shown(each))),
    get: async (organizationId, id) => shown(await find(catalog, organizationId, id)),
    async create(organization, body, by, { alongside, told } = {}) {
      const { fields, secret } = readProvider(body, undefined, await termsOf(organization.id))
      const id = idFor(fields.name, random)
      return catalog.transaction(async (statements) => {
        await refuseMapBeyond(statements, organization.id, fields, { userId: by.userId, permissions })
        const others = await listProvidersOf(statements, organization.id)
        if (others.length >= ORGANIZATION.providers) throw tooMany()
        const secret_id = await keptSecret(statements, id, null, secret)
        // Lists go by the moment, so no two have the same.
        const now = Math.max(clock.now(), (others.at(-1)?.created_at ?? 0) + 1)
        await insertProvider(statements, { ...fields, id, organizationId: organization.id, secret_id, now })
        await refuseLockOut(statements, organization.id, hasInstanceProvider)
        const after = await find(statements, organization.id, id)
        await alongside?.(statements, { after })
        const answer = await shown(after, statements)
        await told?.(statements, { after: answer })
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
        const secret_id = await keptSecret(statements, before.id, before.secret_id, secret)
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
      lookAtProvider(outbound, await openedProvider(await find(catalog, organizationId, id), storedSecrets, log)),
  }
}

const fieldsOf = ({
  name,
  issuer,
  client_id,
  scopes,
  allowed_domains,
  jit,
  role_map,
  sso_only,
  enabled,
}: StoredProvider): ProviderFields => ({
  name,
  issuer,
  client_id,
  scopes,
  allowed_domains,
  jit,
  role_map: role_map as ProviderFields["role_map"], // judged when it was entered
  sso_only,
  enabled,
})

function isRefused(outbound: Pick<Outbound, "check">, url: string): boolean {
  try {
    outbound.check(url)
    return false
  } catch {
    return true
  }
}

const ID_BYTES = 5

/** Part of the address that the provider sends browsers back to. Random at its end: nobody learns of another's by a clash. */
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
  new AppError("limit_reached", `An organization may have ${ORGANIZATION.providers} identity providers`, {
    limit: ORGANIZATION.providers,
    resource: "providers",
  })
