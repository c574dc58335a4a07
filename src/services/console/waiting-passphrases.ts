import type { Random } from "../secrets.ts"

/** Passphrases of jobs that wait, under a random name: a job's payload is written down, a passphrase nowhere. */
interface WaitingPassphrases {
  /** For the payload of the job. */
  keep(passphrase: string | undefined): { secret?: string }
  /** Forgets it; undefined for a job that has none, or whose passphrase was lost with a restart. */
  take(secret: string | undefined): string | undefined
}

export function waitingPassphrases(random: Random): WaitingPassphrases {
  const passphrases = new Map<string, string>()
  return {
    keep(passphrase) {
      if (passphrase === undefined) return {}
      const secret = Buffer.from(random(16)).toString("hex")
      passphrases.set(secret, passphrase)
      return { secret }
    },
    take(secret) {
      const passphrase = secret === undefined ? undefined : passphrases.get(secret)
      if (secret !== undefined) passphrases.delete(secret)
      return passphrase
    },
  }
}
