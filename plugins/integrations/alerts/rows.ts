import { type OwnStatements, sql } from "#plugin"
import type { Alert } from "./alert.ts"

const ALERT = sql`
  id, site_id, type, threshold, factor, window_minutes, goal_id, channels_json, enabled, firing_since, last_fired_at, previous_fired_at,
  created_by, created_at, updated_at, version`

type AlertRow = Omit<Alert, "channels" | "enabled"> & { channels_json: string; enabled: 0 | 1 }

// The columns contain what this file has written.
const toAlert = ({ channels_json, enabled, ...row }: AlertRow): Alert => ({
  ...row,
  channels: JSON.parse(channels_json),
  enabled: enabled === 1,
})

export async function alertById(statements: OwnStatements, id: number): Promise<Alert | undefined> {
  const row = await statements.get<AlertRow>(sql`select ${ALERT} from integrations_alerts where id = ${id}`)
  return row && toAlert(row)
}

/** Lists the alerts of a site, by id. */
export async function listAlerts(statements: OwnStatements, siteId: number): Promise<Alert[]> {
  const rows = await statements.all<AlertRow>(
    sql`select ${ALERT} from integrations_alerts where site_id = ${siteId} order by id limit 1000`,
  )
  return rows.map(toAlert)
}

const SITES_PER_SLICE = 40

/** Returns whether any site has an enabled alert. */
export const hasEnabled = async (statements: OwnStatements): Promise<boolean> =>
  (await statements.get(sql`select 1 from integrations_alerts where enabled = 1 limit 1`)) !== undefined

/** Lists the enabled alerts of the next sites after one: only spikes, or all. A site has at most 20, so a slice has whole sites. */
export async function listEnabled(statements: OwnStatements, afterSite: number, onlySpikes: boolean): Promise<Alert[]> {
  const condition = onlySpikes ? sql`enabled = 1 and type = 'spike'` : sql`enabled = 1`
  const rows = await statements.all<AlertRow>(sql`
    select ${ALERT} from integrations_alerts where ${condition} and site_id in (
      select distinct site_id from integrations_alerts where ${condition} and site_id > ${afterSite} order by site_id limit ${SITES_PER_SLICE}
    ) order by site_id, id limit 1000`)
  return rows.map(toAlert)
}

export type AlertFields = Pick<Alert, "type" | "threshold" | "factor" | "window_minutes" | "goal_id" | "channels" | "enabled">

export async function insertAlert(
  statements: OwnStatements,
  alert: AlertFields & Pick<Alert, "site_id" | "created_by">,
  now: number,
): Promise<Alert> {
  const { site_id, type, threshold, factor, window_minutes, goal_id, channels, enabled, created_by } = alert
  const row = await statements.get<AlertRow>(sql`
    insert into integrations_alerts (
      site_id, type, threshold, factor, window_minutes, goal_id, channels_json, enabled, created_by, created_at, updated_at
    ) values (
      ${site_id}, ${type}, ${threshold}, ${factor}, ${window_minutes}, ${goal_id}, ${JSON.stringify(channels)}, ${enabled ? 1 : 0},
      ${created_by}, ${now}, ${now}
    ) returning ${ALERT}`)
  return toAlert(row!) // an insert that returns has a row
}

/** Stores a change that people make, with a new version. */
export async function updateAlert(
  statements: OwnStatements,
  id: number,
  { threshold, factor, window_minutes, goal_id, channels, enabled, firing_since }: AlertFields & Pick<Alert, "firing_since">,
  now: number,
): Promise<Alert> {
  const row = await statements.get<AlertRow>(sql`
    update integrations_alerts set threshold = ${threshold}, factor = ${factor}, window_minutes = ${window_minutes}, goal_id = ${goal_id},
      channels_json = ${JSON.stringify(channels)}, enabled = ${enabled ? 1 : 0}, firing_since = ${firing_since}, updated_at = ${now},
      version = version + 1
    where id = ${id} returning ${ALERT}`)
  return toAlert(row!) // the caller has read it in this transaction
}

export const noteFired = (statements: OwnStatements, id: number, now: number): Promise<void> =>
  statements.run(sql`
    update integrations_alerts set firing_since = ${now}, previous_fired_at = last_fired_at, last_fired_at = ${now} where id = ${id}`)

export const noteResolved = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`update integrations_alerts set firing_since = null where id = ${id}`)

export const deleteAlert = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from integrations_alerts where id = ${id}`)

/** Deletes all alerts of a site, and what is stored for them. */
export async function deleteAlertsOf(statements: OwnStatements, siteId: number): Promise<number> {
  const removed = await statements.all(sql`delete from integrations_alerts where site_id = ${siteId} returning id`)
  await statements.run(sql`delete from integrations_alert_pauses where site_id = ${siteId}`)
  await statements.run(sql`delete from integrations_goal_counts where site_id = ${siteId}`)
  return removed.length
}

interface Pause {
  site_id: number
  import_id: number
  until: number
}

export const putPause = (statements: OwnStatements, { site_id, import_id, until }: Pause): Promise<void> =>
  statements.run(sql`
    insert into integrations_alert_pauses (site_id, import_id, until) values (${site_id}, ${import_id}, ${until})
    on conflict (site_id) do update set import_id = excluded.import_id, until = excluded.until`)

export const deletePause = (statements: OwnStatements, siteId: number, importId: number): Promise<void> =>
  statements.run(sql`delete from integrations_alert_pauses where site_id = ${siteId} and import_id = ${importId}`)

/** Returns the sites whose alerts wait at a time, and forgets the pauses that are over. */
export async function pausedSites(statements: OwnStatements, now: number): Promise<Set<number>> {
  await statements.run(sql`delete from integrations_alert_pauses where until <= ${now}`)
  const rows = await statements.all<{ site_id: number }>(sql`select site_id from integrations_alert_pauses order by site_id limit 1000`)
  return new Set(rows.map(({ site_id }) => site_id))
}
