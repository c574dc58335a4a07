import type { Fault } from "../../src/domain/error.ts"

/** Resolves to the field faults of a rejected call, or else its code; "accepted" if it was not rejected. */
export const faultsOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "accepted",
    (error) => (error.members?.errors as Fault[] | undefined)?.map(({ pointer, code }) => `${pointer} ${code}`) ?? error.code,
  )
