/** Exit codes, by which a supervisor knows whether a restart helps (reliability.md 3.6). */
export const EXIT = {
  orderly: 0,
  failed: 1,
  usage: 64,
  damaged: 65,
  unavailable: 69,
  inUse: 73,
  storage: 74,
  fsync: 75,
  ownership: 77,
  configuration: 78,
} as const
export type ExitName = keyof typeof EXIT

/** A failure that ends a command. Its message is the single line shown to the operator, and says what to do. */
export class ExitFault extends Error {
  constructor(
    readonly exit: ExitName,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = "ExitFault"
  }
}

/** The fault of a file that is not one of Footfall's, as opposed to a damaged one. Ends a command like damage. */
export class ForeignFile extends ExitFault {
  constructor(message: string, options?: ErrorOptions) {
    super("damaged", message, options)
  }
}
