import { everyScreen } from "./every-screen.ts"

everyScreen({ theme: "dark", width: 1280 })
