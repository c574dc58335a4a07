import type { Alarms } from "../alarms.ts"
import { listBackups } from "../backup-folder.ts"

/** Says that a backup has failed its checks, until none has any more. */
export interface BackupAlarm {
  raise(backup: string, cause: string): Promise<void>
  /** Ends it where every backup that is left is sound. */
  endIfSound(): Promise<void>
}

export const backupAlarm = ({ dataDir, alarms }: { dataDir: string; alarms: Pick<Alarms, "raise" | "end"> }): BackupAlarm => ({
  async raise(backup, cause) {
    await alarms.raise("backup_damaged", { backup, cause })
  },
  async endIfSound() {
    if (listBackups(dataDir).every(({ failed_at }) => failed_at === null)) await alarms.end("backup_damaged")
  },
})
