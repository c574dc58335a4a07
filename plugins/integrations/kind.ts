import type { TObject } from "@sinclair/typebox"
import type { OwnStatements, Site } from "#plugin"
import type { Author } from "./area.ts"
import type { Integration, KindFacts } from "./integration.ts"

/** Result of a test, as people see it. */
export interface TestReport {
  ok: boolean
  ms: number
  steps: TestStep[]
}

export interface TestStep {
  name: string
  ok: boolean
  detail: string
}

/** What a new integration is tested with. */
export interface Target {
  secret: string
  config: Integration["config"]
}

/** Parsed merge patch. */
export interface ReadPatch {
  secret?: string
  name?: string
  config?: Integration["config"]
  version?: number
}

/** Runs in the transaction that stores an integration. */
export type Alongside = (statements: OwnStatements, integration: Integration) => Promise<void>

/** Result of `connect`: an integration, or the page on which a person grants access. */
export type Connected = { integration: Integration } | { authorize_url: string }

/** A kind of integration. `lifecycle.ts` has the behaviour that all kinds share. */
export interface Kind extends Omit<KindFacts, "connect_by"> {
  /** Returns what `connect` accepts on this instance. */
  connectBy(): KindFacts["connect_by"]
  /** The route that connects the service: its documentation, and what it does. */
  connect: {
    summary: string
    input: TObject
    failures: readonly string[]
    run(author: Author, body: unknown, alongside: Alongside): Promise<Connected>
  }
  /** Returns the settings as people see them, with their defaults. */
  shownConfig(config: Integration["config"]): Integration["config"]
  /** Parses a patch. Throws `validation_failed` with all faults. */
  readPatch(body: unknown, present: Integration): ReadPatch
  /** Throws unless the service accepts a new secret. Absent for kinds without one. */
  refuseUntested?(target: Target): Promise<void>
  /** Returns what people recognize a secret by. */
  labelOf?(secret: string): string
  /** Tests an integration. `secret` is undefined if it can't be decrypted, or if the kind has none. */
  test(integration: Integration, secret: string | undefined, site: Site): Promise<TestReport>
  /** Runs in the transaction that removes an integration, before its row is deleted. */
  onRemove?(statements: OwnStatements, integration: Integration, options: RemoveOptions): Promise<void>
  /** Removes an integration that is not only a row. `audit` writes the entry. Default: `onRemove`, and the row is deleted. */
  remove?(integration: Integration, options: RemoveOptions, audit: (statements: OwnStatements) => Promise<void>): Promise<void>
}

export interface RemoveOptions {
  /** Whether the data that was fetched is deleted too. */
  forgetData: boolean
}
