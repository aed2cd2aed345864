// A small job on a real engine: a source that emits as fast as it can, an operator that waits for
// each record, and a sink.  It is compiled by Janino, hence without generics and lambdas.
// Arguments: a file with one option `KEY=VALUE` a line, and microseconds per record.
import java.io.BufferedReader;
import java.io.FileReader;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.eventtime.NoWatermarksGenerator;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkGeneratorSupplier;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

public class EngineJob {
    public static void main(String[] arguments) throws Exception {
        Configuration options = new Configuration();
        BufferedReader lines = new BufferedReader(new FileReader(arguments[0]));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            int equals = line.indexOf('=');
            options.setString(line.substring(0, equals), line.substring(equals + 1));
        }
        lines.close();
        MiniCluster cluster = new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(options)
                .setNumTaskManagers(4)
                .setNumSlotsPerTaskManager(1)
                .build());
        cluster.start();
        StreamExecutionEnvironment env =
            StreamExecutionEnvironment.getExecutionEnvironment(options);
        env.setMaxParallelism(128);
        DataStreamSource source = env.fromSource(
            new NumberSequenceSource(0L, Long.MAX_VALUE / 2L),
            new NoWatermarks(),
            "numbers");
        SingleOutputStreamOperator texts = source.setParallelism(2).map(new Pad());
        texts.returns(Types.STRING).setParallelism(2);
        SingleOutputStreamOperator slow =
            ((DataStream) texts)
                .keyBy(new ByText(), Types.INT)
                .map(new Wait(Long.parseLong(arguments[1])));
        slow.returns(Types.STRING).name("wait").setParallelism(2).slotSharingGroup("second");
        slow.sinkTo(new DiscardingSink()).name("discard").setParallelism(2);
        cluster.submitJob(env.getStreamGraph().getJobGraph()).get();
        System.out.println("running " + cluster.getRestAddress().get());
        System.in.read();  // until whoever started it ends, and with it this input
        Runtime.getRuntime().halt(0);
    }

    /** Makes a text of 500 bytes of a number. */
    public static class Pad extends RichMapFunction {
        private String rest;

        public Object map(Object number) {
            if (rest == null) {
                StringBuilder builder = new StringBuilder();
                for (int i = 0; i < 480; i++) {
                    builder.append('x');
                }
                rest = builder.toString();
            }
            return number + rest;
        }
    }

    public static class NoWatermarks implements WatermarkStrategy {
        public WatermarkGenerator createWatermarkGenerator(
                WatermarkGeneratorSupplier.Context context) {
            return new NoWatermarksGenerator();
        }
    }

    public static class ByText implements KeySelector {
        public Object getKey(Object text) {
            return Integer.valueOf(text.hashCode() % 512);
        }
    }

    /** Waits for so many microseconds per record, in pieces that the machine can keep. */
    public static class Wait extends RichMapFunction {
        private long each;
        private long owed;

        public Wait(long us) {
            each = 1000L * us;
        }

        public Object map(Object text) {
            owed += each;
            if (owed >= 900000L) {
                long begin = System.nanoTime();
                for (long now = begin; now < begin + owed; now = System.nanoTime()) {
                    LockSupport.parkNanos(begin + owed - now);
                }
                owed -= System.nanoTime() - begin;
            }
            return text;
        }
    }
}
