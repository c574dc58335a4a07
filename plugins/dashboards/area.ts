import type { Trash } from "#plugin"
import type { Board, DashboardsHost } from "./board.ts"
import { type BoardWrites, createBoardWrites } from "./board-writes.ts"
import { type Boards, createBoards } from "./boards.ts"
import { type Copies, createCopies } from "./copies.ts"
import { createData, type Data } from "./data/data.ts"
import { createPreferences, type PreferenceWrites } from "./preferences.ts"
import { boardTrash } from "./rows.ts"
import { type BoardShares, createBoardShares } from "./shares/shares.ts"
import { createViewing, type Viewing } from "./shares/viewing.ts"

/** The parts of the area, each of which has a file. */
export interface Area {
  host: DashboardsHost
  trash: Trash<Board>
  boards: Boards
  writes: BoardWrites
  preferences: PreferenceWrites
  copies: Copies
  data: Data
  shares: BoardShares
  viewing: Viewing
}

export function areaOf(host: DashboardsHost): Area {
  const trash = boardTrash(host)
  const boards = createBoards(host, trash)
  const shares = createBoardShares(host, trash)
  const writes = createBoardWrites(host, { boards, trash })
  return {
    ...{ host, trash, boards, writes },
    preferences: createPreferences(host, boards),
    copies: createCopies(host, { boards, writes }),
    data: createData(host),
    shares,
    viewing: createViewing(host, shares),
  }
}
