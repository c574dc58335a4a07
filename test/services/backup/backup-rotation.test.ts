import { expect, test } from "bun:test"
import { type BackupKind, expiredBackups, type Manifest } from "../../../src/services/backup/folder.ts"

const backup = (created_at: string, kind: BackupKind = "daily", failed = false): Manifest => ({
  format: 1,
  id: `${created_at.slice(0, 10)}-${kind}`,
  kind,
  created_at,
  version: "1.0.0",
  catalog: "file",
  schemas: { catalog: [], events: [] },
  rows: { catalog: {}, events: {} },
  events_by_site: {},
  files: [],
  verified_at: failed ? null : created_at,
  failed_at: failed ? created_at : null,
})
const daily = (...days: string[]) => days.map((day) => backup(`${day}T03:00:00.000Z`))
const keep = { daily: 2, weekly: 2 }

// 21 November 2026 is a Saturday.
test.each<[string, Manifest[], string[]]>([
  ["nothing without backups", [], []],
  [
    "daily backups except the newest two and the newest of two weeks",
    daily("2026-11-08", "2026-11-14", "2026-11-15", "2026-11-19", "2026-11-20", "2026-11-21"),
    ["2026-11-08-daily", "2026-11-14-daily", "2026-11-19-daily"],
  ],
  [
    "the earlier one of two on the same day",
    [backup("2026-11-21T03:00:00.000Z"), { ...backup("2026-11-21T04:00:00.000Z"), id: "second" }],
    ["2026-11-21-daily"],
  ],
  ["no manual backup", [backup("2026-11-01T12:00:00.000Z", "manual"), ...daily("2026-11-20", "2026-11-21")], []],
  [
    "everything older than 35 days except the newest good backup",
    [
      backup("2026-09-01T12:00:00.000Z", "manual"),
      backup("2026-10-01T12:00:00.000Z", "manual"),
      backup("2026-10-02T12:00:00.000Z", "manual"),
    ],
    ["2026-09-01-manual", "2026-10-01-manual"],
  ],
  [
    "a safety backup after three newer good ones",
    [backup("2026-11-18T12:00:00.000Z", "migration"), backup("2026-11-19T12:00:00.000Z", "restore"), ...daily("2026-11-20", "2026-11-21")],
    ["2026-11-18-migration"],
  ],
  ["failed backups", [backup("2026-11-19T03:00:00.000Z", "daily", true), ...daily("2026-11-20", "2026-11-21")], ["2026-11-19-daily"]],
])("removes %s", (_, backups, expected) => {
  expect(expiredBackups(backups, keep, Date.parse("2026-11-21T12:30:00Z"))).toEqual(expected)
})
