import type { Fault } from "../../src/domain/error.ts"

/** What a refused call says: its field faults, else its code; "accepted" when it was not refused. */
export const faultsOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "accepted",
    (error) => (error.members?.errors as Fault[] | undefined)?.map(({ pointer, code }) => `${pointer} ${code}`) ?? error.code,
  )
