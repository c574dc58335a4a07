import { type AppliedMigration, type MigrationList, type MigrationStamp, type Pending, pendingOf, toMigrationFault } from "../migrations.ts"
import { sql } from "../sql.ts"
import type { Catalog, Statements } from "./catalog.ts"
import catalog from "./migrations/0001_catalog.sql" with { type: "text" }
import publicApi from "./migrations/0002_public_api.sql" with { type: "text" }
import instanceShields from "./migrations/0003_instance_shields.sql" with { type: "text" }
import accounts from "./migrations/0004_accounts.sql" with { type: "text" }
import signIn from "./migrations/0005_sign_in.sql" with { type: "text" }
import organizations from "./migrations/0006_organizations.sql" with { type: "text" }
import plugins from "./migrations/0007_plugins.sql" with { type: "text" }
import sites from "./migrations/0008_sites.sql" with { type: "text" }
import storageDays from "./migrations/0009_storage_days.sql" with { type: "text" }
import providers from "./migrations/0010_providers.sql" with { type: "text" }
import notices from "./migrations/0011_notices.sql" with { type: "text" }
import hostClaims from "./migrations/0012_host_claims.sql" with { type: "text" }
import auditAnchor from "./migrations/0013_audit_anchor.sql" with { type: "text" }
import visibleImports from "./migrations/0014_visible_imports.sql" with { type: "text" }
import connections from "./migrations/0016_connections.sql" with { type: "text" }
import invitedSiteRoles from "./migrations/0017_invited_site_roles.sql" with { type: "text" }
import jobsOfNodes from "./migrations/0018_jobs_of_nodes.sql" with { type: "text" }
import changes from "./migrations/0019_changes.sql" with { type: "text" }
import nodes from "./migrations/0020_nodes.sql" with { type: "text" }
import turns from "./migrations/0021_turns.sql" with { type: "text" }
import removals from "./migrations/0022_removals.sql" with { type: "text" }
import forgottenNodes from "./migrations/0023_forgotten_nodes.sql" with { type: "text" }

/** The migrations of the core's tables. Each plugin has its own list. */
export const CATALOG_SCHEMA: MigrationList = {
  owner: "core",
  migrations: [
    { name: "0001_catalog", sql: catalog },
    { name: "0002_public_api", sql: publicApi },
    { name: "0003_instance_shields", sql: instanceShields },
    { name: "0004_accounts", sql: accounts },
    { name: "0005_sign_in", sql: signIn },
    { name: "0006_organizations", sql: organizations },
    { name: "0007_plugins", sql: plugins },
    { name: "0008_sites", sql: sites },
    { name: "0009_storage_days", sql: storageDays },
    { name: "0010_providers", sql: providers },
    { name: "0011_notices", sql: notices },
    { name: "0012_host_claims", sql: hostClaims },
    { name: "0013_audit_anchor", sql: auditAnchor },
    { name: "0014_visible_imports", sql: visibleImports },
    { name: "0016_connections", sql: connections },
    { name: "0017_invited_site_roles", sql: invitedSiteRoles },
    { name: "0018_jobs_of_nodes", sql: jobsOfNodes },
    { name: "0019_changes", sql: changes },
    { name: "0020_nodes", sql: nodes },
    { name: "0021_turns", sql: turns },
    { name: "0022_removals", sql: removals },
    { name: "0023_forgotten_nodes", sql: forgottenNodes },
  ],
}

/** Returns the migration lists of all owners, the core's first. */
export const catalogSchemas = (plugins: readonly (Pick<MigrationList, "migrations"> & { id: string })[]): MigrationList[] => [
  CATALOG_SCHEMA,
  ...plugins.map(({ id, migrations }) => ({ owner: id, migrations })),
]

/** Returns the migrations that `migrate` would run. Changes nothing. */
export async function pendingMigrations(catalog: Statements, lists: readonly MigrationList[], ours: string): Promise<Pending[]> {
  return pendingOf(lists, await appliedMigrations(catalog), ours)
}

/** Runs the pending migrations, each in one transaction with its record, so that a kill never leaves a migration half done. */
export async function migrate(catalog: Catalog, lists: readonly MigrationList[], stamp: MigrationStamp): Promise<void> {
  const pending = await pendingMigrations(catalog, lists, stamp.version)
  if (pending.length > 0) await catalog.run(CREATE_MIGRATIONS)
  for (const migration of pending) {
    const run = catalog.transaction(async (statements) => {
      await statements.script(migration.sql)
      await insertMigration(statements, migration, stamp)
    })
    await run.catch((error) => {
      throw toMigrationFault(error, migration)
    })
  }
}

const CREATE_MIGRATIONS = sql`
  create table if not exists migrations (
    id integer primary key autoincrement,
    owner text not null,
    name text not null,
    version text not null,
    applied_at integer not null,
    unique (owner, name)
  ) strict`

/** Lists the applied migrations, oldest first. Returns none for a new store. */
export async function appliedMigrations(catalog: Statements): Promise<AppliedMigration[]> {
  const exists = await catalog.get(sql`select 1 from sqlite_schema where type = 'table' and name = 'migrations'`)
  return exists ? catalog.all(sql`select owner, name, version from migrations order by id`) : []
}

const insertMigration = (statements: Statements, { owner, name }: Pending, { version, now }: MigrationStamp): Promise<void> =>
  statements.run(sql`insert into migrations (owner, name, version, applied_at) values (${owner}, ${name}, ${version}, ${now})`)
