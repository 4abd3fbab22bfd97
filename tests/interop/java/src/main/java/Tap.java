import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What makes a program a client of run.py: tests with a sentence as their name, and lines that say how they went. */
class Tap {
  interface Act {
    void run() throws Exception;
  }

  record Test(String name, Act act) {}

  static class Skip extends RuntimeException {
    Skip(String why) {
      super(why);
    }
  }

  private static final int limitS = 90;
  private static final List<Test> tests = new ArrayList<>();
  private static final List<AutoCloseable> opened = new ArrayList<>();

  static String environment(String name, String otherwise) {
    String value = System.getenv(name);
    return value != null ? value : otherwise;
  }

  /** Registers a test; it fails when it throws. */
  static void test(String name, Act act) {
    tests.add(new Test(name, act));
  }

  /** Is closed when the test that runs now has ended. */
  static <T extends AutoCloseable> T closing(T resource) {
    synchronized (opened) {
      opened.add(resource);
    }
    return resource;
  }

  static void equal(Object got, Object expected) {
    if (!Objects.deepEquals(got, expected)) {
      throw new AssertionError("got " + got + ", expected " + expected);
    }
  }

  static void contains(String text, String part) {
    if (text == null || !text.contains(part)) {
      throw new AssertionError("'" + text + "' does not contain '" + part + "'");
    }
  }

  /** What comes next, within 10 s. */
  static <T> T next(BlockingQueue<T> from) throws InterruptedException {
    T got = from.poll(10, TimeUnit.SECONDS);
    if (got == null) throw new AssertionError("nothing came for 10 s");
    return got;
  }

  static String unique(String name) {
    return "interop.java." + name + "." + UUID.randomUUID().toString().substring(0, 8);
  }

  /** The URI of a broker, or user, of that kind: SMALL (has little memory), LIMITED (may do little). */
  static String uriOf(String kind) {
    String given = environment("BATON_" + kind + "_URI", null);
    if (given == null) throw new Skip("nobody here has a " + kind + " one");
    return given;
  }

  /** Has run.py end the broker with SIGTERM and start it again; it is ready afterwards. */
  static void restartBroker() throws Exception {
    String control = environment("BATON_CONTROL", null);
    if (control == null) throw new Skip("nobody here can restart the broker");
    String[] address = control.split(":");
    try (Socket runner = new Socket(address[0], Integer.parseInt(address[1]))) {
      runner.getOutputStream().write("restart\n".getBytes());
      equal(new BufferedReader(new InputStreamReader(runner.getInputStream())).readLine(), "ok");
    }
  }

  private static String told(Throwable error) {
    StackTraceElement where = null;
    for (Throwable at = error; at != null; at = at.getCause()) {
      for (StackTraceElement frame : at.getStackTrace()) {
        if (where == null && frame.getClassName().startsWith("Interop") && !frame.getMethodName().startsWith("help")) {
          where = frame;
        }
      }
    }
    String text = (error + (error.getCause() == null ? "" : ": " + error.getCause())).replaceAll("\\s+", " ");
    return text.substring(0, Math.min(500, text.length())) + (where == null ? "" : " (line " + where.getLineNumber() + ")");
  }

  private static String result(Test test, ExecutorService executor) throws InterruptedException {
    Future<?> run = executor.submit(() -> {
      test.act.run();
      return null;
    });
    try {
      run.get(limitS, TimeUnit.SECONDS);
      return "ok " + test.name;
    } catch (TimeoutException late) {
      run.cancel(true);
      return "not ok " + test.name + ": it took too long";
    } catch (ExecutionException error) {
      if (error.getCause() instanceof Skip) return "skip " + test.name + ": " + error.getCause().getMessage();
      return "not ok " + test.name + ": " + told(error.getCause());
    }
  }

  /** Runs all tests, or those whose name contains the first argument; ends the program. */
  static void runAll(String[] arguments) throws InterruptedException {
    ExecutorService executor = Executors.newCachedThreadPool();
    int total = 0;
    boolean failed = false;
    for (Test test : tests) {
      if (arguments.length > 0 && !test.name.contains(arguments[0])) continue;
      ++total;
      String line = result(test, executor);
      failed |= line.startsWith("not ok");
      System.out.println(line);
      synchronized (opened) {
        for (AutoCloseable resource : opened) {
          try {
            resource.close();
          } catch (Exception gone) {
            // It ended with the test.
          }
        }
        opened.clear();
      }
    }
    System.out.println("1.." + total);
    System.exit(failed ? 1 : 0);
  }
}
