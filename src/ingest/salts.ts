import type { Period } from "./salt-period.ts"

/** Random salts by site and period, kept sealed in the catalog and destroyed when their time is over (metrics.md 2.2). */
export interface Salts {
  /** 32 bytes, at once when they are in memory; made at first use. */
  get(siteId: number, period: Pick<Period, "name" | "expiresAt">): Uint8Array | Promise<Uint8Array>
}

/** The sites' identity keys, sealed in the catalog: the key of person keys (metrics.md 2.3). */
export interface IdentityKeys {
  identityKey(siteId: number): Uint8Array | Promise<Uint8Array>
}
